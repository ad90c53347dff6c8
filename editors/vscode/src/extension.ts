// The extension: starts the server, passes the settings on, and shows what its commands print. All
// knowledge of the language is in `nigari lsp`.

import * as path from "node:path";
import * as vscode from "vscode";
import {
  type CodeLens,
  type Command,
  type ExecuteCommandSignature,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";

/** Commands of the server that are better watched in a terminal: they prompt, and may run for long. */
const TERMINAL: Record<string, (...rest: string[]) => string[]> = {
  "nigari.plan": (...targets) => ["plan", ...targets.map((each) => `-target=${each}`)],
  "nigari.test": (...files) => ["test", ...files.map((each) => `-filter=${each}`)],
};
const LANGUAGES = ["opentofu", "opentofu-vars", "opentofu-test", "opentofu-query", "opentofu-symbols"];
const OTHERS = ["opentofu-template", "nigari", "terraform", "terraform-vars", "terraform-test"];

/** Documents that show what a command has printed, which nobody is asked to save. */
const SCHEME = "nigari-output";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const commands: Record<string, (...given: never[]) => unknown> = {
    "nigari.restartServer": restart,
    "nigari.showLog": () => client?.outputChannel.show(),
    "nigari.initHere": initHere,
    "nigari.explainHere": () => runLens("nigari.explain"),
    "nigari.planHere": () => runLens("nigari.plan"),
    "nigari.showReferences": showReferences,
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => uri.query,
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("nigari.path")) void restart();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function program(): string {
  return vscode.workspace.getConfiguration("nigari").get("path", "nigari");
}

function settings(): Record<string, unknown> {
  const { inlayHints, lint, lenses } = vscode.workspace.getConfiguration("nigari");
  return { inlayHints, lint, lenses };
}

async function start(): Promise<void> {
  const server: ServerOptions = { command: program(), args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      ...[...LANGUAGES, ...OTHERS].map((language) => ({ scheme: "file", language })),
      { scheme: "file", pattern: "**/*.{tf,tofu,tfvars,tftest,tofutest}.json" },
    ],
    synchronize: { configurationSection: "nigari" },
    initializationOptions: settings(),
    middleware: { executeCommand: execute, resolveCodeLens: withReferences },
  };
  client = new LanguageClient("nigari", "Nigari", server, options);
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `Nigari cannot be started as "${program()}". Install it with "pip install nigari", or set its path.`,
      "Open Settings",
    );
    if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "nigari.path");
    client.error(String(error));
  }
}

async function restart(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.dispose();
  await start();
}

/** Run a command of the server: in a terminal, or there, with its output in a document of its own. */
async function execute(command: string, given: unknown[], next: ExecuteCommandSignature): Promise<unknown> {
  const [root, ...rest] = given as string[];
  const words = TERMINAL[command]?.(...rest);
  if (root !== undefined && words !== undefined) {
    const cwd = vscode.Uri.parse(root).fsPath;
    const name = `nigari ${words[0]}`;
    const terminal = vscode.window.createTerminal({ name, cwd, shellPath: program(), shellArgs: words });
    terminal.show();
    return undefined;
  }
  const result = (await next(command, given)) as { status: number; output: string } | undefined;
  if (command === "nigari.explain" && result !== undefined) {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: rest[0] ?? "explain", query: result.output });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }
  return result;
}

async function initHere(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined) return;
  const root = vscode.Uri.file(path.dirname(document.uri.fsPath)).toString();
  await vscode.commands.executeCommand("nigari.init", root);
}

/** Run the command that the nearest declaration at or above the cursor has in a lens. */
async function runLens(command: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || client === undefined) return;
  const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
  const lenses: CodeLens[] = (await client.sendRequest("textDocument/codeLens", { textDocument })) ?? [];
  const line = editor.selection.active.line;
  const near = lenses.filter((each) => each.command?.command === command && each.range.start.line <= line);
  const wanted: Command | undefined = near.at(-1)?.command;
  if (wanted === undefined) {
    void vscode.window.showInformationMessage("There is no declaration here that this command is for.");
    return;
  }
  await vscode.commands.executeCommand(command, ...(wanted.arguments ?? []));
}

/** Have a click on the number of references show them. */
async function withReferences(
  lens: vscode.CodeLens,
  token: vscode.CancellationToken,
  next: (lens: vscode.CodeLens, token: vscode.CancellationToken) => vscode.ProviderResult<vscode.CodeLens>,
): Promise<vscode.CodeLens | null | undefined> {
  const resolved = await next(lens, token);
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (resolved?.command?.command === "" && uri !== undefined) {
    const place = [uri, resolved.range.start];
    resolved.command = { title: resolved.command.title, command: "nigari.showReferences", arguments: place };
  }
  return resolved;
}

async function showReferences(uri: vscode.Uri, position: vscode.Position): Promise<void> {
  const found = await vscode.commands.executeCommand("vscode.executeReferenceProvider", uri, position);
  await vscode.commands.executeCommand("editor.action.showReferences", uri, position, found);
}
