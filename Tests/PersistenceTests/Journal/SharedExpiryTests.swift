import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// The time in which a call can be made, if another process has accepted it.
@Suite(.bounded) struct SharedExpiryTests {
  private let server = Server()
  private let clock = ManualClock()
  private let base: InMemoryStorage
  private let network = NetworkSwitch()
  /// Runs all tasks of all processes on the thread of the test.
  private let executor = SteppedExecutor()

  init() {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
  }

  private var send: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).waits(until: self.network).scope("s").journaled(as: "send").expires(after: .seconds(500))
  }

  private func process(_ prefix: String) -> (scheduled: ScheduledProgram, storage: SharedStorage) {
    let storage = SharedStorage(self.base)
    let program = ScheduledProgram(storage, self.clock, prefix: prefix, network: self.network, executor: self.executor)
    program.register(self.send)
    return (program, storage)
  }

  /// Lets time pass in small steps, in which all processes do what there is to do.
  private func pass(_ seconds: Int) {
    for _ in 0..<(seconds * 5) {
      self.clock.advance(by: .milliseconds(200))
      self.executor.runAll()
    }
  }

  private func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let task = Task(executorPreference: self.executor) { try await body() }
    self.executor.runAll()
    return try await task.value
  }

  /// A process that looks at the entries each minute, and one whose call it has read, before that is killed.
  private func leaveCall() async throws -> (reader: ScheduledProgram, killed: ScheduledProgram) {
    let (reader, _) = self.process("a")
    let send = self.send
    _ = try await self.run {
      try await reader.journal.schedule(send, with: Note("a"), named: "own", after: .seconds(9_000))
    }
    let (writer, storage) = self.process("b")
    let call = writer.program.client.store(for: send).enqueue(with: Note("b"))
    self.pass(61)
    #expect(try await self.run { await call.isAccepted })
    expect(reader.journal.entries.map(\.id), equals: ["b1", "a1"])
    storage.suspend()
    return (reader, writer)
  }

  @Test func `A call that another process has left expires in time`() async throws {
    let (reader, killed) = try await self.leaveCall()
    self.pass(450)
    self.network.turnOn()
    self.pass(20)
    expect(self.server.keys, equals: [])
    expect(reader.journal.entries.map(\.status), equals: [.expired, .scheduled])
    withExtendedLifetime(killed) {}
  }

  @Test func `A call that has expired is made after another process has retried it`() async throws {
    let (reader, killed) = try await self.leaveCall()
    self.pass(450)
    let (other, storage) = self.process("c")
    let retry = Task.immediate(executorPreference: self.executor) { await other.journal.retry("b1") }
    self.pass(61)
    storage.suspend()
    self.pass(10)
    self.network.turnOn()
    self.pass(20)
    expect(self.server.keys, equals: ["b1"])
    expect(reader.journal.entries.map(\.id), equals: ["a1"])
    retry.cancel()
    self.executor.runAll()
    withExtendedLifetime((killed, other)) {}
  }
}
