// Addresses: the modules that they lead through, and their keys.

export const KEY = /\[("(?:[^"\\]|\\.)*"|\d+|\*)\]/g;

/** The module that calls this one; nothing for the root module. */
export function parentModule(address: string): string {
  // A key may have dots in it.
  const match = /^(.*?)\.?module\.[^.[]+(\[("(?:[^"\\]|\\.)*"|[^\]]*)\])?$/.exec(address);
  return match ? match[1] : "";
}

/** A module and those it is in, the outermost first; without the root module. */
export function modulePath(address: string): string[] {
  const found: string[] = [];
  for (let at = address; at; at = parentModule(at)) found.unshift(at);
  return found;
}
