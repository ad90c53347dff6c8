// What is wrong with the configuration, each problem with its source.
import type { VNode } from "preact";
import { Snippet } from "./code";
import { doc } from "./document";
import { SourceLink } from "./ui";

export function Problems(): VNode {
  return (
    <div class="main">
      <header class="main-head">
        <h2>Problems</h2>
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Problems">
        {doc.problems.map((each, at) => (
          <article class="problem" key={at}>
            <h3>
              <span class={`status status-${each.severity === "error" ? "fail" : "unknown"}`}>{each.severity}</span> {each.summary}
            </h3>
            <p class="problem-detail">{each.detail}</p>
            {each.at && (
              <>
                <SourceLink at={each.at} />
                <Snippet at={each.at} around={1} />
              </>
            )}
          </article>
        ))}
      </div>
    </div>
  );
}
