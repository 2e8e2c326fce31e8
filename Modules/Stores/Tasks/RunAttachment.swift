/// Data that a state attaches to a run, and that can make the run wait for other runs.
///
/// It is for your own states, if several attempts of a run share progress. The state sets
/// ``OperationContext/runAttachment`` of a task in `scheduleFetchTask(_:)`. The operation and the state's other methods
/// find it in the context of the run. The store releases it with the run.
public protocol RunAttachment: AnyObject, Sendable {
  /// The waits of the run before its work begins, for finding cycles. The operation itself performs these waits.
  var awaitedRuns: [WaitEdge] { get }

  /// Whether the operation may do its work in parts.
  var mayHaveParts: Bool { get }

  /// Whether the operation has done only a part of its work, and has to run again for the next part.
  ///
  /// Asked once after each part that has returned a value. All modifiers of the operation run for each part.
  func takesAnotherPart() -> Bool
}
