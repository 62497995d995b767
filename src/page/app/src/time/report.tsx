// What recorded runs say of themselves: summary, checks, metrics, warnings, profile.

import * as app from "../app";
import { Markdown } from "../ui/markdown";

const CLASSES = { text: "", number: "num", pass: "pass", fail: "fail", open: "open" };

export function Reports() {
  const reports = app.reports.value;
  return (
    <section class="report" aria-label="Report">
      {reports.map((report) => (
        <article key={report.source}>
          {reports.length > 1 && <h2>{app.sourceName(report.source)}</h2>}
          {report.doc && <Markdown text={report.doc} />}
          {report.sections.map(({ heading, lead, head, rows }) => (
            <section key={heading}>
              <h3>{heading}</h3>
              {lead && <p>{lead}</p>}
              {rows.length > 0 && (
                <table>
                  {head.length > 0 && (
                    <thead>
                      <tr>
                        {head.map((cell, i) => (
                          <th key={i} class={rows[0]?.[i]?.kind === "number" ? "num" : ""}>
                            {cell}
                          </th>
                        ))}
                      </tr>
                    </thead>
                  )}
                  <tbody>
                    {rows.map((row, r) => (
                      <tr key={r}>
                        {row.map(({ text, kind }, i) => (
                          <td key={i} class={CLASSES[kind]}>
                            {text}
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
            </section>
          ))}
        </article>
      ))}
    </section>
  );
}

/** Whether a check of a run has failed. */
export function hasFailed(): boolean {
  return app.reports.value.some((report) =>
    report.sections.some(({ rows }) => rows.some((row) => row.some(({ kind }) => kind === "fail"))),
  );
}
