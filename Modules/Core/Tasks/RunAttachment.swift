/// Data that a state attaches to a run, and that can make the run wait for other runs.
///
/// For states of your own whose runs have progress that several attempts share. The state sets
/// ``OperationContext/runAttachment`` of a task in `scheduleFetchTask(_:)`; the operation and the state's other methods
/// find it in the context of the run. The store releases it with the run.
public protocol RunAttachment: AnyObject, Sendable {
  /// The waits of the run before its work begins, for finding cycles. The operation itself has to wait.
  var awaitedRuns: [WaitEdge] { get }

  /// Whether the operation may do its work in parts.
  var mayHaveParts: Bool { get }

  /// Whether the operation has done a part of its work only, and is run again for the next part.
  ///
  /// Asked once after each part, which has returned a value. All its modifiers are run for each part.
  func takesAnotherPart() -> Bool
}
