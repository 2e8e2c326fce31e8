import OperationCore

// What the second sample has where it stands.
extension Timing {
  var context: OperationContext {
    get { sample() }
    nonmutating set {}
  }
  var operation: Operation { sample() }
  var delay: Duration { .seconds(1) }
  var error: any Error { CancellationError() }
}
