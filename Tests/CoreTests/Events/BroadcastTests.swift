import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Handlers that are cancelled by one that is called before them.
@Suite(.bounded) struct BroadcastTests {
  private let log = Log<String>()

  @Test func `A handler that an earlier one cancels is not called any more, not even for the present value`() {
    let broadcast = Broadcast(0)
    let second = Box<OperationSubscription?>(nil)
    let first = broadcast.subscribe { value in
      self.log.append("first \(value)")
      if value == 1 { second.value?.cancel() }
    }
    second.value = broadcast.subscribe { self.log.append("second \($0)") }
    let third = broadcast.subscribe { self.log.append("third \($0)") }
    broadcast.send(1)
    broadcast.send(2)
    expect(self.log.all, equals: ["first 0", "second 0", "third 0", "first 1", "third 1", "first 2", "third 2"])
    first.cancel()
    third.cancel()
    expect(broadcast.subscriberCount, equals: 0)
  }

  @Test
  func `An observer of a sequence that an earlier one cancels is not called any more`() async throws {
    let (sequence, continuation) = AsyncStream<Bool>.makeStream()
    let specification = AsyncSequenceRunSpecification.observing(sequence: sequence, initialValue: false)
    let second = Box<OperationSubscription?>(nil)
    let isOver = Gate()
    let first = specification.subscribe(in: OperationContext()) { second.value?.cancel() }
    second.value = specification.subscribe(in: OperationContext()) { self.log.append("second") }
    let third = specification.subscribe(in: OperationContext()) { isOver.open() }
    continuation.yield(true)
    try await isOver.wait()
    #expect(self.log.all.isEmpty)
    first.cancel()
    third.cancel()
  }
}
