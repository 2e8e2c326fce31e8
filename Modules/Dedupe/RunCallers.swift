internal import OperationCore

/// The callers that share a ``DeduplicatedRun``, and what one that joins late has missed.
struct RunCallers<Operation: OperationRequest & SendableMetatype>: Sendable where Operation.Value: Sendable {
  typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  struct Caller: Sendable {
    let continuation: Continuation
    /// The context of a caller whose store shows the progress of the run.
    let progressContext: OperationContext?
  }

  /// The last result that the run has yielded.
  final class Yield: Sendable {
    let result: Result<Operation.Value, Operation.Failure>
    let context: OperationContext?
    /// The position among the yields of the run; the first is 1.
    let number: Int

    init(result: Result<Operation.Value, Operation.Failure>, context: OperationContext?, number: Int) {
      self.result = result
      self.context = context
      self.number = number
    }
  }

  /// What a caller that joins has received.
  struct Seen {
    var yieldCount = 0
    var progress: RelayedProgress?
  }

  /// What comes next for a caller that joins.
  enum Addition {
    case added(UInt64)
    case missedProgress(RelayedProgress)
    case missedYield(Yield)
  }

  /// The identifier of the caller that began the run.
  static var firstID: UInt64 { 0 }

  /// The callers by their identifiers, which ascend.
  private var callers: [UInt64: Caller]
  private var lastID = Self.firstID
  private var lastYield: Yield?
  /// Nil until the run has reported anything.
  private var progress: RelayedProgress?

  init(first continuation: Continuation) {
    self.callers = [Self.firstID: Caller(continuation: continuation, progressContext: nil)]
  }

  private var inOrder: [Caller] { self.callers.sorted { $0.key < $1.key }.map(\.value) }

  /// Adds a caller that has seen everything.
  mutating func add(_ continuation: Continuation, _ progressContext: OperationContext?, hasSeen seen: Seen) -> Addition
  {
    if progressContext != nil, let progress = self.progress, progress !== seen.progress {
      return .missedProgress(progress)
    }
    if let lastYield = self.lastYield, lastYield.number > seen.yieldCount { return .missedYield(lastYield) }
    self.lastID += 1
    self.callers[self.lastID] = Caller(continuation: continuation, progressContext: progressContext)
    return .added(self.lastID)
  }

  /// Returns the caller, to be released after unlocking.
  mutating func remove(_ id: UInt64) -> Caller? {
    self.callers.removeValue(forKey: id)
  }

  /// Notes a result.
  ///
  /// - Returns: The continuations to pass it to, and the result before it, to be released after unlocking.
  mutating func note(
    _ result: Result<Operation.Value, Operation.Failure>,
    using context: OperationContext?
  ) -> ([Continuation], Yield?) {
    let replaced = self.lastYield
    self.lastYield = Yield(result: result, context: context, number: (replaced?.number ?? 0) + 1)
    return (self.inOrder.map(\.continuation), replaced)
  }

  /// Notes progress.
  ///
  /// - Returns: The contexts to report it in, and the progress before it, to be released after unlocking.
  mutating func note(_ progress: RunProgress) -> ([OperationContext], RelayedProgress?) {
    let replaced = self.progress
    self.progress = RelayedProgress(after: replaced, progress)
    return (self.inOrder.compactMap(\.progressContext), replaced)
  }
}
