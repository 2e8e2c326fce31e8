import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Calls whose removal fails while they are about to be made again. What is made again runs when the test says so.
@Suite(.bounded, .warningsAreIssues) struct JournalLostRemovalTests {
  private let server = Server()
  private let executor = SteppedExecutor()
  private let base = TestStorage()
  private let settled = Counter()

  @Test(arguments: ["s", nil], [false, true])
  func `A call whose removal fails before its attempt begins is made again`(
    scope: String?,
    resumesByItself: Bool
  ) async throws {
    try await leaveCalls(["a", "b"], in: self.base, scope: scope)
    let storage = HeldStorage(self.base)
    let program = Program(storage, executor: self.executor)
    let network = NetworkSwitch()
    network.turnOn()
    let journal = MutationJournal(
      storage: storage,
      resumes: resumesByItself ? .when(network) : .manually,
      maximumConcurrentCalls: 1
    )
    program.client.journal = journal
    journal.register(Send(server: self.server).journaled(as: "send"), as: "send")
    let resumption = Task(executorPreference: self.executor) { await journal.resume() }
    // The second call is sent after the first one.
    while journal.entries.count == 2, self.executor.runNext() {}
    expect(journal.statuses, equals: [.running])
    self.settle { await resumption.value }
    await expectWarning(.storageFailed) {
      storage.door.close()
      let removal = Task.immediate { await journal.remove("old2") }
      self.executor.runAll()
      self.base.failToWrite(true)
      storage.door.open()
      self.executor.runAll()
      self.base.failToWrite(false)
      #expect(await !removal.value)
    }
    self.executor.runAll()
    expect(self.settled.value, equals: 1)
    if !resumesByItself {
      expect(self.server.done, equals: ["a"])
      self.settle { await journal.resume() }
      self.executor.runAll()
      expect(self.settled.value, equals: 2)
    }
    expect(self.server.done, equals: ["a", "b"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `The caller of a replaced call learns that the call in its place was removed before its attempt`()
    async throws
  {
    let program = Program(executor: self.executor)
    let journal = program.makeJournal()
    let script = Script(default: .value("ok"))
    let mutation = Send(server: self.server, script: script).scope("s")
      .journaled(as: "send", policy: .replacePending(by: \.id))
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    let codes = Log<JournalError.Code?>()
    func begin(_ id: Int, _ text: String) -> Task<Void, Never> {
      let call = Task(executorPreference: self.executor) {
        do { _ = try await store.mutate(with: Note(id: id, text: text)) } catch {
          codes.append((error as? JournalError)?.code)
        }
      }
      self.executor.runAll()
      return call
    }
    script.enqueue(.suspend)
    _ = begin(1, "a")
    _ = begin(2, "b")
    let last = begin(2, "c")
    last.cancel()
    self.executor.runAll()
    expect(journal.texts, equals: ["a", "c"])
    expect(codes.all.count, equals: 1)
    try await script.next().succeed("ok")
    // The call is made again for the caller of the replaced one, in a task that has not begun.
    while journal.entries.count == 2, self.executor.runNext() {}
    expect(journal.statuses, equals: [.running])
    #expect(await journal.remove("k3"))
    self.executor.runAll()
    expect(codes.all.last, equals: .removed)
    expect(self.server.done, equals: ["a"])
  }

  /// Counts a resumption that has ended.
  private func settle(_ resumption: @escaping @Sendable () async -> JournalResumption) {
    Task(executorPreference: self.executor) {
      await resumption().settled()
      self.settled.increment()
    }
  }
}
