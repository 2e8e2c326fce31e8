import OperationTesting
import Synchronization
import Testing

@testable import OperationCore

@Suite(.warningsAreIssues) struct FlightTests {
  private let context = OperationContext()

  @Test func tellsItsPilotOfItsTurns() async throws {
    let pilot = LoggingPilot()
    let flight = Flight(pilot: pilot)
    #expect(try await flight.outcome(in: context).get() == 1)
    #expect(pilot.log == ["willDepart", "fly", "didLand"])
    #expect(try await flight.outcome(in: context).get() == 1)
    #expect(pilot.log.count == 3)
  }

  @Test func tellsItsPilotOfACancellation() async throws {
    let gate = Gate()
    let pilot = LoggingPilot { _ in
      try await gate.wait()
      return 1
    }
    let flight = Flight(pilot: pilot)
    let caller = Task.immediate { [context] in try await flight.outcome(in: context).get() }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(pilot.log == ["willDepart", "fly", "wasCancelled", "didLand failed cancelled"])
  }

  @Test func aFlightThatWasCancelledOnTheGroundIsNotSeen() async throws {
    let pilot = LoggingPilot()
    let flight = Flight(pilot: pilot)
    flight.cancel()
    #expect(await flight.outcome(in: context).isCancellation)
    #expect(pilot.log == [])
  }

  @Test func thePilotHearsOfTheOutcomeBeforeThoseWhoWait() async throws {
    let landing = Gate()
    let pilot = BlockingPilot(landing)
    let flight = Flight(pilot: pilot)
    let caller = Task.immediate { [context] in try await flight.outcome(in: context).get() }
    #expect(flight.isFlying)
    pilot.gate.open()
    try await landing.arrivals(count: 1)
    try await caller.value
    #expect(pilot.wasFinishedAtLanding.isOn == false)
    #expect(pilot.wasFlyingAtLanding.isOn == false)
    #expect(flight.finishedOutcome != nil)
  }

  @Test func holdsKeepItGoing() async throws {
    let work = GatedWork()
    let flight = work.task().flight
    #expect(flight.hold())
    let caller = Task.immediate { [context] in try await flight.outcome(in: context).get() }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!flight.isCancelled)
    #expect(flight.hold())
    flight.release()
    #expect(!flight.isCancelled)
    flight.release()
    #expect(flight.isCancelled)
    #expect(!flight.hold())
    await flight.settled()
    #expect(work.cancelledRunCount == 1)
  }

  @Test func holdsEndWithTheFlight() async throws {
    let work = GatedWork()
    work.gate.open()
    let flight = work.task().flight
    #expect(flight.hold())
    #expect(try await flight.outcome(in: context).get() == 1)
    #expect(!flight.hold())
    flight.release()
    #expect(!flight.isCancelled)
  }

  @Test func aHoldThatIsTakenBackOnTheGroundCancelsIt() async throws {
    let work = GatedWork()
    let flight = work.task().flight
    #expect(flight.hold())
    flight.release()
    #expect(flight.isCancelled)
    #expect(await flight.outcome(in: context).isCancellation)
    #expect(work.runCount == 0)
  }

  @Test func newcomersJoinAFlightThatIsAlive() async throws {
    let work = GatedWork()
    let flight = work.task().flight
    let first = Task.immediate { [context] in try await flight.outcome(in: context).get() }
    let isOnBoard = Switch(false)
    let second = Task.immediate {
      await flight.outcomeIfAlive(leaving: .atOnce) { _ = isOnBoard.set(true) }
    }
    #expect(isOnBoard.isOn)
    // The newcomer is a reason for the flight to go on.
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(!flight.isCancelled)
    work.gate.open()
    #expect(try await second.value?.get() == 1)
    #expect(await flight.outcomeIfAlive(leaving: .atOnce) == nil)
  }

  @Test func newcomersDoNotJoinADyingFlight() async throws {
    let gate = Gate()
    let pilot = LoggingPilot { _ in
      await gate.waitIgnoringCancellation()
      return 1
    }
    let flight = Flight(pilot: pilot)
    let first = Task.immediate { [context] in await flight.outcome(in: context, leaving: .atOnce) }
    first.cancel()
    #expect(await first.value.isCancellation)
    #expect(flight.isRunning)
    let isOnBoard = Switch(false)
    #expect(await flight.outcomeIfAlive(leaving: .atOnce) { _ = isOnBoard.set(true) } == nil)
    #expect(!isOnBoard.isOn)
    #expect(!flight.hold())
    gate.open()
    await flight.settled()
    #expect(flight.finishedOutcome != nil)
  }

  @Test func theLastOneMayLeaveAtOnce() async throws {
    let gate = Gate()
    let flight = Flight(
      pilot: LoggingPilot { _ in
        await gate.waitIgnoringCancellation()
        return 1
      }
    )
    let callers = (0..<2).map { _ in
      Task.immediate { [context] in await flight.outcome(in: context, leaving: .atOnce) }
    }
    for caller in callers { caller.cancel() }
    for caller in callers { #expect(await caller.value.isCancellation) }
    #expect(flight.isFlying)
    gate.open()
    await flight.settled()
  }

  @Test func settledIsNoReasonToGoOn() async throws {
    let work = GatedWork()
    let flight = work.task().flight
    let caller = Task.immediate { [context] in try await flight.outcome(in: context).get() }
    let watchers = (0..<2).map { _ in Task.immediate { await flight.settled() } }
    watchers[0].cancel()
    await watchers[0].value
    #expect(!flight.isCancelled)
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    await watchers[1].value
    #expect(flight.isCancelled)
  }

  @Test func anEnqueuedDepartureLeavesTheCallersThread() async throws {
    let threads = Mutex<[UInt]>([])
    let flight = Flight(
      pilot: LoggingPilot { _ in
        threads.withLock { $0.append(ThreadLocal.currentThread) }
        return 1
      }
    )
    let gone = Gate()
    await onThreads(1) { [context] _ in
      threads.withLock { $0.append(ThreadLocal.currentThread) }
      flight.begin(in: context, departure: .enqueued)
      #expect(flight.hasStarted)
      gone.open()
    }
    await flight.settled()
    #expect(threads.withLock { Set($0).count } == 2)
  }
}

/// Waits at a gate, and looks at its flight when that lands.
private final class BlockingPilot: FlightPilot {
  let gate = Gate()
  let landing: Gate
  let wasFinishedAtLanding = Switch(true)
  let wasFlyingAtLanding = Switch(true)

  init(_ landing: Gate) {
    self.landing = landing
    landing.open()
  }

  func fly(_ voyage: Voyage<BlockingPilot>) async -> Result<Void, any Error> {
    await self.gate.waitIgnoringCancellation()
    await self.landing.waitIgnoringCancellation()
    return .success(())
  }

  func didLand(_ task: OperationTask<Void, any Error>, with outcome: Result<Void, any Error>, isCancelled: Bool) {
    _ = self.wasFinishedAtLanding.set(task.isFinished)
    _ = self.wasFlyingAtLanding.set(task.flight.isFlying)
  }
}
