/// Data that a state attaches to a run, and that can make the run wait for other runs.
@usableFromInline
package protocol RunAttachment: AnyObject, Sendable {
  /// The waits of the run before its work begins.
  var awaitedRuns: [WaitEdge] { get }

  /// Whether the operation may do its work in parts.
  var mayHaveParts: Bool { get }

  /// Whether the operation has done a part of its work only, and is run again for the next part.
  ///
  /// Asked once after each part, which has returned a value. All its modifiers are run for each part.
  func takesAnotherPart() -> Bool
}
