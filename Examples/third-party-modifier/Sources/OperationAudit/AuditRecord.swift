public import struct FoundationEssentials.Date

/// One run of an audited operation that has ended.
public struct AuditRecord: Hashable, Sendable, Identifiable {
  /// How a run has ended.
  public enum Outcome: Hashable, Sendable {
    /// The run returned a value.
    case succeeded
    /// The run threw an error, which the text describes.
    case failed(String)
    /// The run was cancelled and threw an error.
    case cancelled
  }

  /// The identifier of the run. A trail counts the runs in the order in which they begin, from 1.
  public let id: Int

  /// The audited run of the same trail that this run is a part of; nil when it is on its own.
  public let parentID: Int?

  /// The name of the operation, which contains no user data.
  public let operationName: String

  /// On whose behalf the operation ran; nil when that is unknown.
  public let principal: String?

  /// The number of the attempt, from 1, when a retry outside of the audit has made several.
  public let attempt: Int

  /// When the run began, by the `operationClock` of its context.
  public let beganAt: Date

  /// How long the run took, by the `operationDeadlines` of its context, which a change of the date does not affect.
  public let duration: Duration

  /// How the run has ended.
  public let outcome: Outcome
}

extension AuditRecord: CustomStringConvertible {
  /// One line: `#3 in #1 Transfer by anna: succeeded`.
  public var description: String {
    let parent = self.parentID.map { " in #\($0)" } ?? ""
    let attempt = self.attempt > 1 ? ", attempt \(self.attempt)" : ""
    let principal = self.principal.map { " by \($0)" } ?? ""
    return "#\(self.id)\(parent) \(self.operationName)\(principal)\(attempt): \(self.outcome)"
  }
}

extension AuditRecord.Outcome: CustomStringConvertible {
  /// The outcome in words.
  public var description: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed(let error): "failed, \(error)"
    case .cancelled: "cancelled"
    }
  }
}
