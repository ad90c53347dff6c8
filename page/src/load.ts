// Unpacks the document, before anything that looks at it is run.

export const loaded: { document?: unknown } = {};

export async function load(): Promise<void> {
  const element = document.getElementById("document")!;
  const bytes = Uint8Array.from(atob(element.textContent!), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  loaded.document = await new Response(stream).json();
  element.remove();
}
