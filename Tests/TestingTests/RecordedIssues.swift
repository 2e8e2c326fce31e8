import Synchronization
import Testing

/// Returns the messages of the issues that `body` records, in order.
///
/// They are not issues of the test, so that a test can prove that a helper fails. Its suite has the trait
/// `.issuesAreExpected`.
func recordedIssues(
  isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> Void
) async rethrows -> [String] {
  let recorder = IssueRecorder()
  try await IssueRecorder.$current.withValue(recorder) { try await body() }
  return recorder.messages
}

/// Returns the messages of the issues that a check of something broken records.
///
/// A wait in vain takes all of its limit, so the limit is short. On a busy machine another wait can exceed it, too: if the issues
/// are not the expected ones, the check runs again with ten times the limit. The messages name the shortest one in any case.
///
/// - Parameters:
///   - limit: The shortest limit.
///   - expected: The expected messages.
///   - check: The check, which takes its limit.
/// - Returns: The messages of the last check.
/// - Throws: The error of `check`.
func recordedIssues(
  within limit: Duration = .milliseconds(200),
  expecting expected: ExpectedIssues,
  _ check: (Duration) async throws -> Void
) async rethrows -> [String] {
  var found: [String] = []
  for factor in [1, 10, 100] where factor == 1 || !expected.match(found) {
    let longer = limit * factor
    found = try await recordedIssues { try await check(longer) }.map { message in
      message.replacing("\(longer * 3)", with: "\(limit * 3)").replacing("\(longer)", with: "\(limit)")
    }
  }
  return found
}

/// The issues that a check of something broken records.
enum ExpectedIssues {
  case all([String])
  case firstBegins(with: String)

  fileprivate func match(_ found: [String]) -> Bool {
    switch self {
    case .all(let messages): found == messages
    case .firstBegins(let text): found.first?.hasPrefix(text) == true
    }
  }
}

private final class IssueRecorder: Sendable {
  @TaskLocal static var current: IssueRecorder?

  private let recorded = Mutex<[String]>([])

  var messages: [String] { self.recorded.withLock { $0 } }

  func record(_ issue: Issue) {
    // An issue without a comment does not come from a helper, and no test expects it.
    let message = issue.comments.isEmpty ? "\(issue)" : issue.comments.map(\.rawValue).joined(separator: "\n")
    self.recorded.withLock { $0.append(message) }
  }
}

extension Trait where Self == IssueHandlingTrait {
  /// Keeps the issues inside ``recordedIssues(isolation:_:)`` out of the test's own.
  static var issuesAreExpected: Self {
    .compactMapIssues { issue in
      guard let recorder = IssueRecorder.current else { return issue }
      recorder.record(issue)
      return nil
    }
  }
}
