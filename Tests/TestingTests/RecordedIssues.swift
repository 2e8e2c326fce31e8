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
