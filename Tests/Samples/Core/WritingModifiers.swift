import OperationCore

// The members that the second sample uses.
extension Timing {
  var context: OperationContext {
    get { sample() }
    nonmutating set {}
  }
  var operation: Operation { sample() }
  var delay: Duration { .seconds(1) }
  var error: any Error { CancellationError() }
}
