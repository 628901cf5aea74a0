//! A report as JUnit XML. A broken rule that is not required is a skipped case with its reason: JUnit has no warnings.

use crate::report::{CheckReport, CheckVerdict, Finding};
use crate::rule::RuleLevel;

pub fn junit(report: &CheckReport) -> String {
    let is_failed = |finding: &&Finding| finding.is_failure() && finding.rule.level == RuleLevel::Required;
    let failures = report.findings.iter().filter(is_failed).count();
    let passed = report.findings.iter().filter(|finding| finding.verdict == CheckVerdict::Passed).count();
    let skipped = report.findings.len() - failures - passed;
    let tests = report.findings.len();
    let name = escaped(&format!("{} {} {}", report.set, report.role, report.endpoint));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str("<testsuites>\n");
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">"
    ));
    for finding in &report.findings {
        let rule = finding.rule;
        let class = escaped(&format!("{}.{}", report.role, rule.group()));
        let seconds = finding.took.unwrap_or_default().as_secs_f64();
        let open = format!("    <testcase classname=\"{class}\" name=\"{}\" time=\"{seconds:.3}\"", escaped(rule.id));
        match &finding.verdict {
            CheckVerdict::Passed => line(format!("{open}/>")),
            CheckVerdict::Failed(why) if is_failed(&finding) => {
                line(format!("{open}>"));
                line(format!("      <failure message=\"{}\">{}</failure>", escaped(why), escaped(&details(finding))));
                line(String::from("    </testcase>"));
            }
            CheckVerdict::Failed(why) | CheckVerdict::Skipped(why) => {
                let mark = if finding.accepted { String::from("accepted") } else { rule.level.to_string() };
                line(format!("{open}><skipped message=\"{}\"/></testcase>", escaped(&format!("{mark}: {why}"))));
            }
        }
    }
    line(String::from("  </testsuite>"));
    line(String::from("</testsuites>"));
    out
}

fn details(finding: &Finding) -> String {
    let mut text = format!("{} (PROTOCOL.md, section {})\n", finding.rule.text, finding.rule.section);
    for (what, shown) in [("sent", &finding.sent), ("came back", &finding.received)] {
        if let Some(shown) = shown {
            text.push_str(&format!("{what}: {shown}\n"));
        }
    }
    text.push_str("change: ");
    text.push_str(finding.hint());
    text
}

/// A character that XML cannot hold becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_an_agent_is_escaped_in_xml() {
        assert_eq!(escaped("<a href=\"x\">&\u{0}\u{1b}]]></a>"), "&lt;a href=&quot;x&quot;&gt;&amp;??]]&gt;&lt;/a&gt;");
    }
}
