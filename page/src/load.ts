// Unpacks the document, before anything that looks at it is run.

export const loaded: { document?: unknown } = {};

export async function load(): Promise<void> {
  const element = document.getElementById("document")!;
  const text = atob(element.textContent!);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  loaded.document = await new Response(stream).json();
  element.remove();
}
