// Why something changes: the chain behind each new value.
import type { VNode } from "preact";
import type { Reason, ReasonStep } from "./document";
import { doc, valueKey, valueOfKey } from "./document";
import { href } from "./route";
import { SourceLink, count } from "./ui";

export function Reasons({ number, of }: { number?: number; of?: string }): VNode | null {
  if (number === undefined) return null;
  const reason = JSON.parse(doc.plan!.reasons[number]) as Reason;
  return (
    <details class="reasons" open>
      <summary>Why</summary>
      {of && (
        <p class="muted">
          As for <span class="address">{of}</span>, an instance of the same block:
        </p>
      )}
      {reason.missing && (
        <div class="reason-part">
          <p>
            <span class="address">{reason.missing.address}</span>{" "}
            {reason.missing.keys.length ? `is no longer there: the instances are ${reason.missing.keys.join(", ")}` : "is not in the configuration"}
          </p>
          <Steps steps={reason.missing.steps} />
        </div>
      )}
      {reason.triggers && (
        <div class="reason-part">
          <p>Because something else changes</p>
          <Steps steps={reason.triggers} />
        </div>
      )}
      {reason.arguments?.map((each) => (
        <div class="reason-part" key={each.path}>
          <p>
            <span class="address">{each.path}</span>
            {each.forces && <span class="diff-forces"> forces replacement</span>}
            {each.outside && <span class="tag tag-warn">changed outside</span>}
            {each.source === "removed" && <span class="muted"> the configuration does not set it</span>} <SourceLink at={each.at} />
          </p>
          {each.waits?.map((wait) => (
            <p class="muted" key={wait}>
              Waits for {wait}
            </p>
          ))}
          <Steps steps={each.steps ?? []} />
        </div>
      ))}
    </details>
  );
}

export function Steps({ steps }: { steps: ReasonStep[] }): VNode | null {
  if (!steps.length) return null;
  return (
    <ol class="reason-steps" aria-label={count(steps.length, "step")}>
      {steps.map(([depth, name, value, remark, place], at) => {
        const known = valueOfKey(name.replace(/^(.*) of (module\..*)$/, "$2.$1"));
        return (
          <li key={at} style={{ "--depth": depth }}>
            <span class="muted">← </span>
            {known === undefined ? (
              <span class="address">{name}</span>
            ) : (
              <a class="address" href={href("configuration", "", { value: valueKey(known) })}>
                {name}
              </a>
            )}{" "}
            = <code>{value}</code> {remark && <span class="tag">{remark}</span>} <SourceLink at={place} />
          </li>
        );
      })}
    </ol>
  );
}
