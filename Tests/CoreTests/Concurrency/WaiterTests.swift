import CoreFixtures
import Synchronization
import TestFixtures
import Testing

@testable import OperationTools

@Suite(.bounded) struct WaiterTests {
  private let end = AwaitedOutcome<Int>()

  @Test func `An outcome that is decided before the wait ends it at once`() async {
    self.end.decide(1)
    await expect(self.end.value(), equals: 1)
  }

  @Test func `An outcome that is decided during the wait ends it`() async {
    let waiting = Task.immediate { await self.end.value() }
    self.end.decide(2)
    await expect(waiting.value, equals: 2)
  }

  @Test func `The first outcome counts, and the wait is resumed once`() async {
    let waiting = Task.immediate { await self.end.value() }
    self.end.decide(1)
    self.end.decide(2)
    await expect(waiting.value, equals: 1)
    self.end.decide(3)
    // The outcome stays for whoever waits later.
    await expect(self.end.value(), equals: 1)
  }

  @Test func `A wait in a cancelled task has the outcome of a cancellation`() async {
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await self.end.value(cancelled: -1)
    }
    await expect(waiting.value, equals: -1)
    self.end.decide(1)
    await expect(self.end.value(), equals: -1)
  }

  @Test func `A wait that is cancelled ends at once`() async {
    let waiting = Task.immediate { await self.end.value(cancelled: -1) }
    waiting.cancel()
    await expect(waiting.value, equals: -1)
  }

  @Test func `A cancellation after the outcome changes nothing`() async {
    let waiting = Task.immediate { await self.end.value(cancelled: -1) }
    self.end.decide(1)
    waiting.cancel()
    await expect(waiting.value, equals: 1)
  }

  @Test func `A wait that cannot leave ignores the cancellation`() async {
    let waiting = Task.immediate { await self.end.value() }
    waiting.cancel()
    self.end.decide(1)
    await expect(waiting.value, equals: 1)
  }

  @Test func `An outcome and a cancellation race for one resumption`() async {
    for round in 0..<500 {
      let end = AwaitedOutcome<Int>()
      let waiting = Task.immediate { await end.value(cancelled: -1) }
      await onThreads(2) { number in
        if number == 0 { waiting.cancel() } else { end.decide(round) }
      }
      // Resumed twice, it would have trapped.
      let outcome = await waiting.value
      #expect([-1, round].contains(outcome))
      await expect(end.value(), equals: outcome)
    }
  }

  @Test func `An outcome and the beginning of the wait race`() async {
    for round in 0..<500 {
      let end = AwaitedOutcome<Int>()
      let waiting = Task { await end.value() }
      end.decide(round)
      await expect(waiting.value, equals: round)
    }
  }

  @Test func `The wait goes on while the outcome is decided for it by many threads`() async {
    let waiting = Task.immediate { await self.end.value() }
    await onThreads(4) { self.end.decide($0) }
    let outcome = await waiting.value
    #expect((0..<4).contains(outcome))
    await expect(self.end.value(), equals: outcome)
  }

  @Test func `An outcome that nobody waits for is released with the waiter`() {
    weak var released: ReleaseCallback?
    do {
      let end = AwaitedOutcome<ReleaseCallback>()
      let token = ReleaseCallback {}
      released = token
      end.decide(token)
    }
    #expect(released == nil)
  }

  @Test func `Later outcomes are not kept`() {
    let end = AwaitedOutcome<ReleaseCallback>()
    weak var later: ReleaseCallback?
    end.decide(ReleaseCallback {})
    do {
      let token = ReleaseCallback {}
      later = token
      end.decide(token)
    }
    #expect(later == nil)
  }

  @Test func `A later outcome is released without the lock`() async {
    let end = AwaitedOutcome<ReleaseCallback>()
    let first = ReleaseCallback {}
    end.decide(first)
    // Its deinitializer would wait for the lock without end.
    end.decide(ReleaseCallback { end.decide(first) })
    #expect(await end.value() === first)
  }

  @Test func `A task is resumed after its owner has unlocked`() async {
    let owner = Mutex(Waiter<Int>.arriving)
    expect(owner.withLock { $0.outcome }, equals: nil)
    let waiting = Task.immediate {
      await Waiter.outcome { continuation in owner.withLock { $0.suspend(continuation) } }
    }
    expect(owner.withLock { $0.outcome }, equals: nil)
    let resumption = owner.withLock { $0.decide(7) }
    expect(owner.withLock { $0.outcome }, equals: 7)
    #expect(owner.withLock { $0.decide(8) } == nil)
    resumption?.resume()
    await expect(waiting.value, equals: 7)
  }

  @Test func `A waiter that is decided before it is suspended has nothing to resume`() async {
    var waiter = Waiter<String>.arriving
    #expect(waiter.decide("first") == nil)
    #expect(waiter.decide("second") == nil)
    expect(waiter.outcome, equals: "first")
  }
}
