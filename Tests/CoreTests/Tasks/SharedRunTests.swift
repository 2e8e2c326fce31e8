import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded, .warningsAreIssues) struct SharedRunTests {
  private let context = OperationContext()

  @Test func `The delegate is notified of the start and the end`() async throws {
    let delegate = LoggingDelegate()
    let sharedRun = SharedRun(delegate: delegate)
    try await expect(sharedRun.startAndWait(in: context).number(), equals: 1)
    expect(delegate.log, equals: ["willStart", "perform", "didFinish"])
    try await expect(sharedRun.startAndWait(in: context).number(), equals: 1)
    expect(delegate.log.count, equals: 3)
  }

  @Test func `The delegate is notified of a cancellation`() async throws {
    let gate = Gate()
    let delegate = LoggingDelegate { _ in
      try await gate.wait()
      return 1
    }
    let sharedRun = SharedRun(delegate: delegate)
    let caller = Task.immediate { [context] in try await sharedRun.startAndWait(in: context).number() }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    expect(delegate.log, equals: ["willStart", "perform", "wasCancelled", "didFinish failed cancelled"])
  }

  @Test func `A caller that is cancelled by the work leaves, although the work ends before the caller waits`()
    async throws
  {
    let caller = Mutex<Task<Int, any Error>?>(nil)
    let sharedRun = SharedRun(
      delegate: LoggingDelegate { _ in
        caller.withLock { $0 }?.cancel()
        return 1
      }
    )
    let ready = Gate()
    let task = Task { [context] in
      try await ready.wait()
      return try await sharedRun.startAndWait(in: context, leaving: .atOnce).number()
    }
    caller.withLock { $0 = task }
    ready.open()
    await #expect(throws: CancellationError.self) { try await task.finished() }
    #expect(sharedRun.isCancelled)
  }

  @Test func `A run that is cancelled before its start does not notify the delegate`() async throws {
    let delegate = LoggingDelegate()
    let sharedRun = SharedRun(delegate: delegate)
    sharedRun.cancel()
    #expect(await sharedRun.startAndWait(in: context).isCancellation)
    expect(delegate.log, equals: [])
  }

  @Test func `The delegate receives the outcome before the waiters`() async throws {
    let finishing = Gate()
    let delegate = BlockingDelegate(finishing)
    let sharedRun = SharedRun(delegate: delegate)
    let caller = Task.immediate { [context] in
      try await sharedRun.startAndWait(in: context).get(Void.self, (any Error).self)
    }
    #expect(sharedRun.isExecuting)
    delegate.gate.open()
    try await finishing.arrivals(count: 1)
    try await caller.value
    expect(delegate.wasOverAtFinish.isOn, equals: false)
    expect(delegate.wasExecutingAtFinish.isOn, equals: false)
    #expect(sharedRun.finishedOutcome != nil)
  }

  @Test func `Owners keep a run alive`() async throws {
    let work = GatedWork()
    let sharedRun = work.task().sharedRun
    #expect(sharedRun.addOwner())
    let caller = Task.immediate { [context] in try await sharedRun.startAndWait(in: context).number() }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!sharedRun.isCancelled)
    #expect(sharedRun.addOwner())
    sharedRun.removeOwner()
    #expect(!sharedRun.isCancelled)
    sharedRun.removeOwner()
    #expect(sharedRun.isCancelled)
    #expect(!sharedRun.addOwner())
    await sharedRun.settled()
    expect(work.cancelledRunCount, equals: 1)
  }

  @Test func `Owners end with the run`() async throws {
    let work = GatedWork()
    work.gate.open()
    let sharedRun = work.task().sharedRun
    #expect(sharedRun.addOwner())
    try await expect(sharedRun.startAndWait(in: context).number(), equals: 1)
    #expect(!sharedRun.addOwner())
    sharedRun.removeOwner()
    #expect(!sharedRun.isCancelled)
  }

  @Test func `Removing the last owner before the start cancels the run`() async throws {
    let work = GatedWork()
    let sharedRun = work.task().sharedRun
    #expect(sharedRun.addOwner())
    sharedRun.removeOwner()
    #expect(sharedRun.isCancelled)
    #expect(await sharedRun.startAndWait(in: context).isCancellation)
    expect(work.runCount, equals: 0)
  }

  @Test func `Later callers join a run that is alive`() async throws {
    let work = GatedWork()
    let sharedRun = work.task().sharedRun
    let first = Task.immediate { [context] in try await sharedRun.startAndWait(in: context).number() }
    let isWaiting = AtomicFlag(false)
    let second = Task.immediate {
      await sharedRun.joinIfAlive(leaving: .atOnce) { _ = isWaiting.set(true) }
    }
    #expect(isWaiting.isOn)
    // The second caller keeps the run alive.
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(!sharedRun.isCancelled)
    work.gate.open()
    try await expect(second.value?.number(), equals: 1)
    #expect(await sharedRun.joinIfAlive(leaving: .atOnce) == nil)
  }

  @Test func `Later callers do not join a cancelled run`() async throws {
    let gate = Gate()
    let delegate = LoggingDelegate { _ in
      await gate.waitIgnoringCancellation()
      return 1
    }
    let sharedRun = SharedRun(delegate: delegate)
    let first = Task.immediate { [context] in await sharedRun.startAndWait(in: context, leaving: .atOnce) }
    first.cancel()
    #expect(await first.value.isCancellation)
    #expect(sharedRun.isRunning)
    let isWaiting = AtomicFlag(false)
    #expect(await sharedRun.joinIfAlive(leaving: .atOnce) { _ = isWaiting.set(true) } == nil)
    #expect(!isWaiting.isOn)
    #expect(!sharedRun.addOwner())
    gate.open()
    await sharedRun.settled()
    #expect(sharedRun.finishedOutcome != nil)
  }

  @Test func `The last caller may leave at once`() async throws {
    let gate = Gate()
    let sharedRun = SharedRun(
      delegate: LoggingDelegate { _ in
        await gate.waitIgnoringCancellation()
        return 1
      }
    )
    let callers = (0..<2).map { _ in
      Task.immediate { [context] in await sharedRun.startAndWait(in: context, leaving: .atOnce) }
    }
    for caller in callers { caller.cancel() }
    for caller in callers { #expect(await caller.value.isCancellation) }
    #expect(sharedRun.isExecuting)
    gate.open()
    await sharedRun.settled()
  }

  @Test func `Waiting until a run has settled does not keep it alive`() async throws {
    let work = GatedWork()
    let sharedRun = work.task().sharedRun
    let caller = Task.immediate { [context] in try await sharedRun.startAndWait(in: context).number() }
    let watchers = (0..<2).map { _ in Task.immediate { await sharedRun.settled() } }
    watchers[0].cancel()
    await watchers[0].value
    #expect(!sharedRun.isCancelled)
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    await watchers[1].value
    #expect(sharedRun.isCancelled)
  }

  @Test func `An enqueued start leaves the caller's thread`() async throws {
    let threads = Mutex<[UInt]>([])
    let sharedRun = SharedRun(
      delegate: LoggingDelegate { _ in
        threads.withLock { $0.append(ThreadLocal.currentThread) }
        return 1
      }
    )
    let gone = Gate()
    await onThreads(1) { [context] _ in
      threads.withLock { $0.append(ThreadLocal.currentThread) }
      sharedRun.start(in: context, mode: .enqueued)
      #expect(sharedRun.hasStarted)
      gone.open()
    }
    await sharedRun.settled()
    expect(threads.withLock { Set($0).count }, equals: 2)
  }
}

/// Waits at a gate, and looks at its run when that finishes.
private final class BlockingDelegate: RunDelegate {
  let gate = Gate()
  let finishing: Gate
  let wasOverAtFinish = AtomicFlag(true)
  let wasExecutingAtFinish = AtomicFlag(true)

  init(_ finishing: Gate) {
    self.finishing = finishing
    finishing.open()
  }

  func performWork(_ invocation: RunInvocation) async -> RunOutcome {
    await self.gate.waitIgnoringCancellation()
    await self.finishing.waitIgnoringCancellation()
    return RunSuccess(())
  }

  func didFinish(_ task: ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {
    _ = self.wasOverAtFinish.set(task.sharedRun.finishedOutcome != nil)
    _ = self.wasExecutingAtFinish.set(task.sharedRun.isExecuting)
  }
}
