import TestFixtures
import Testing

/// What a test says whose values differ.
@Suite(.bounded) struct ExpectationTests {
  /// The issue of an expectation: its text, and the line at which it is.
  private func issue(line: Int, _ expectation: () -> Void) throws -> String {
    let texts = Log<String>()
    withKnownIssue {
      expectation()
    } matching: { issue in
      texts.append(issue.comments.map(\.rawValue).joined(separator: "\n"))
      return issue.sourceLocation?.line == line && issue.sourceLocation?.fileID == #fileID
    }
    return try #require(texts.all.first)
  }

  @Test func `Equal values are no issue, and their comment is not made`() {
    func comment() -> Comment {
      Issue.record("The comment was made.")
      return ""
    }
    expect(1 + 1, equals: 2, comment())
    expect(Int("a"), equals: nil)
  }

  @Test func `An issue shows both values and the comment, and is at the line of the caller`() throws {
    let text = try self.issue(line: #line) { expect("a\n", equals: "b", "Call \(1)") }
    #expect(text == "The value is not the expected one.\n     value: \"a\n\"\n  expected: \"b\"\nCall 1")
  }

  @Test func `Of long values an issue says where they differ`() throws {
    let numbers = Array(1...100)
    let text = try self.issue(line: #line) { expect(numbers, equals: numbers.map { $0 == 70 ? 0 : $0 }) }
    let difference = try #require(text.split(separator: "\n").last)
    #expect(difference.hasPrefix("  They differ from character 269 on: …65, 66, 67, 68, 69, 70, 71, "))
    #expect(difference.contains(", … is not …65, 66, 67, 68, 69, 0, 71, "))
  }

  @Test func `Values with the same description are shown in detail`() throws {
    struct Hidden: Equatable, CustomStringConvertible {
      let number: Int
      let description = "hidden"
    }
    let text = try self.issue(line: #line) { expect([Hidden(number: 1)], equals: [Hidden(number: 2)]) }
    #expect(text.contains("number: 1"))
  }
}
