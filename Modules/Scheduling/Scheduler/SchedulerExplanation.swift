internal import OperationCore
internal import OperationEvents

/// What the operations of a scheduler do and wait for: see ``OperationScheduler/explain()``.
///
/// ```swift
/// print(scheduler.explain())
/// // uploads: 3 operations, at most 1 at a time
/// // FetchList runs
/// // WriteIndex waits for dependencies: FetchList
/// // Upload waits for categories: disk, held by Backup
/// ```
///
/// The description is for people, and its wording may change. The parts are for code.
public struct SchedulerExplanation: Sendable, Encodable {
  /// An operation of a scheduler.
  public struct Operation: Hashable, Sendable, Encodable {
    /// The name of the operation.
    public let name: String
    /// What it does or waits for.
    public let phase: String
    /// The names of what it waits for.
    public let waitsFor: [String]
    /// The names of the operations that hold the categories that it waits for.
    public let holders: [String]
    /// Whether the operation is vital.
    public let isVital: Bool
    /// Whether the operation is a barrier.
    public let isBarrier: Bool
    /// Whether the operation was cancelled.
    public let isCancelled: Bool
  }

  /// The name of the scheduler.
  public let name: String

  /// The number of operations that may run at a time; nil for any number.
  public let maximumConcurrentOperations: Int?

  /// Whether the scheduler is suspended.
  public let isSuspended: Bool

  /// The operations that have not ended, in the order in which they were scheduled.
  public let operations: [Operation]

  /// The operations in words.
  let lines: [String]
}

extension SchedulerExplanation: CustomStringConvertible {
  private enum CodingKeys: String, CodingKey {
    case name, maximumConcurrentOperations, isSuspended, operations
  }

  /// The scheduler and its operations, with a line for each.
  public var description: String {
    let count = ShownText.count(self.operations.count, "operation")
    let width = self.maximumConcurrentOperations.map { ", at most \($0) at a time" } ?? ""
    return (["\(self.name): \(count)\(width)\(self.isSuspended ? ", suspended" : "")"] + self.lines)
      .joined(separator: "\n")
  }
}

extension OperationScheduler {
  /// Explains what each operation of the scheduler does, or what it waits for.
  ///
  /// - Returns: The explanation, which contains no value of an operation.
  /// - Complexity: O(*n*) in the operations.
  public func explain() -> SchedulerExplanation {
    let operations = self.operations
    let width = self.maximumConcurrentOperations
    return SchedulerExplanation(
      name: self.name,
      maximumConcurrentOperations: width == .max ? nil : width,
      isSuspended: self.isSuspended,
      operations: operations.map { SchedulerExplanation.Operation($0) },
      lines: operations.map(\.description)
    )
  }
}

extension SchedulerExplanation.Operation {
  fileprivate init(_ operation: ScheduledOperationSnapshot) {
    self.init(
      name: operation.name,
      phase: operation.phase.rawValue,
      waitsFor: operation.waitsFor,
      holders: operation.holders,
      isVital: operation.isVital,
      isBarrier: operation.isBarrier,
      isCancelled: operation.isCancelled
    )
  }
}
