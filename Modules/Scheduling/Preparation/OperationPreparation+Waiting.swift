public import OperationCore
public import OperationFoundation

extension OperationPreparation {
  /// The longest time to wait for the categories; nil for as long as it takes.
  func longestWait(in context: OperationContext) -> Duration? {
    let own = self.steps.maximumWait
    guard let inside = context.timeUntilDeadlineInside else { return own }
    // What a fallback runs in place of the operation needs the categories. So the run has to end then, or waits on.
    if context.hasFallbackAroundDeadlineInside, !self.canTimeOut { return own }
    return min(inside, own ?? inside)
  }

  /// Throws after a wait that was too long. After a deadline inside, the operation fails at once with the error of that
  /// deadline, and needs no category: then it throws nothing.
  func endWait(of scope: RunScope, in context: OperationContext) throws(Operation.Failure) {
    let isPastDeadline = context.timeUntilDeadlineInside == .zero
    if isPastDeadline, !context.hasFallbackAroundDeadlineInside { return }
    let lanes = self.steps.lanes
    let error = OperationExclusionTimedOut(
      categories: lanes.map(\.category),
      after: self.steps.maximumWait,
      holders: ExclusionLock.holders(of: self.steps.slots).map(\.name)
    )
    context.send(OperationNotice(.exclusionTimedOut, ofOperationNamed: scope.name, attributes: error.attributes))
    guard let failure = self.timeOutFailure?.map(error) ?? error as? Operation.Failure else {
      preconditionFailure("A wait has an end only if the failure of the operation can represent it.")
    }
    throw failure
  }

  private var canTimeOut: Bool { self.timeOutFailure != nil || Operation.Failure.self == (any Error).self }
}

/// The error of a run that has waited for its categories for as long as it may.
///
/// Its operation has not begun, so no breaker, limit or budget counts the run.
public struct OperationExclusionTimedOut: LocalRejection, Hashable, Sendable {
  /// The categories of the operation, which it would have taken all at once.
  public let categories: [OperationCategory]

  /// The longest time to wait; nil if a deadline has ended the wait.
  public let limit: OperationDuration?

  /// The names of the operations that held the categories at the end of the wait.
  public let holders: [String]

  /// Whether the operation has begun in an earlier attempt of the run.
  public private(set) var hasBegun = false

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - categories: The categories of the operation.
  ///   - limit: The longest time to wait; nil if a deadline has ended the wait.
  ///   - holders: The names of the operations that held the categories.
  public init(categories: [OperationCategory], after limit: OperationDuration?, holders: [String] = []) {
    self.categories = categories
    self.limit = limit
    self.holders = holders
  }

  public func afterAttempt() -> OperationExclusionTimedOut {
    var error = self
    error.hasBegun = true
    return error
  }
}

extension OperationExclusionTimedOut: CustomStringConvertible {
  /// The categories, the time and the holders, in one sentence.
  public var description: String {
    let time = self.limit.map { "in \($0.roundedText)" } ?? "before its deadline"
    let holders = self.holders.isEmpty ? "" : ", held by \(self.holders.joined(separator: ", "))"
    return "The operation did not get \(self.names) \(time)\(holders)."
  }

  private var names: String {
    let names = self.categories.map(\.description).joined(separator: ", ")
    return self.categories.count == 1 ? "the category \(names)" : "the categories \(names)"
  }

  fileprivate var attributes: [String: OperationNotice.Value] {
    let names = self.categories.map(\.description).joined(separator: ", ")
    var attributes: [String: OperationNotice.Value] = ["exclusion.categories": .string(names)]
    if let limit { attributes["exclusion.limit"] = .duration(limit) }
    return attributes
  }
}

extension OperationNotice.Name {
  /// A run has waited too long for its categories. The attribute `exclusion.categories` has their names, and
  /// `exclusion.limit` the longest wait if one was passed.
  public static let exclusionTimedOut = Self("exclusion.timed_out")
}

extension OperationExclusionTimedOut: LocalizedError {
  public var errorDescription: String? { self.description }
}
