/// Data that a state attaches to a run, and that can make the run wait for other runs.
@usableFromInline
package protocol RunAttachment: AnyObject, Sendable {
  /// The waits of the run before its work begins.
  var awaitedRuns: [WaitEdge] { get }
}
