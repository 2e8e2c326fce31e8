import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import Testing

struct Note: Codable, Hashable, Sendable {
  var id: Int
  var text: String
}

typealias TextNoteState = QueryState<String, any Error>

/// A server that does the request of each key once.
final class Server: Sendable {
  struct Request: Hashable, Sendable {
    let key: String?
    let text: String
    let attempt: Int
  }

  private struct State: Sendable {
    var requests: [Request] = []
    var done: [String] = []
    var keys: Set<String> = []
  }

  private let state = Mutex(State())

  /// All requests, repeated ones included.
  var requests: [Request] { self.state.withLock { $0.requests } }
  /// What was done, in order.
  var done: [String] { self.state.withLock { $0.done } }

  func receive(_ text: String, key: String?) {
    self.state.withLock { state in
      let attempt = state.requests.count { $0.key == key } + 1
      state.requests.append(Request(key: key, text: text, attempt: attempt))
      if let key, !state.keys.insert(key).inserted { return }
      state.done.append(text)
    }
  }
}

/// A mutation that sends its arguments to a server, and then does what a script says.
struct Send: MutationRequest {
  let server: Server
  var script = Script(default: .value("ok"))
  var path: OperationPath = ["send"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    self.server.receive(arguments.text, key: context.operationIdempotencyKey)
    return try await self.script.run(in: context, with: continuation)
  }
}

/// Runs an operation again after a failure, when a condition holds.
struct TryAgainWhen<Operation: OperationRequest>: OperationModifier {
  let condition: NetworkSwitch

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      guard await context.pause(until: self.condition) == .satisfied else { throw error }
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
}

extension OperationRequest {
  func tryingAgain(when condition: NetworkSwitch) -> ModifiedOperation<Self, TryAgainWhen<Self>> {
    self.modifier(TryAgainWhen(condition: condition))
  }
}

extension Program {
  /// Makes a journal with the keys `k1`, `k2` and so on, and sets it as that of the client.
  func makeJournal(attemptsBeforeDeadLetter: Int = 5, prefix: String = "k") -> MutationJournal {
    let counter = KeyCounter()
    let journal = MutationJournal(
      storage: self.storage,
      attemptsBeforeDeadLetter: attemptsBeforeDeadLetter,
      makeKey: { "\(prefix)\(counter.next())" }
    )
    self.client.journal = journal
    return journal
  }
}

final class KeyCounter: Sendable {
  private let count = Atomic(0)

  func next() -> Int { self.count.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension MutationJournal {
  var statuses: [JournalEntry.Status] { self.entries.map(\.status) }

  /// The texts of the notes that wait, in order.
  var texts: [String] {
    self.entries.compactMap { entry in
      try? JSONDecoder().decode(Note.self, from: Data(entry.arguments)).text
    }
  }
}

/// Stores calls as a program leaves them that ends before they have ended.
func leaveCalls(
  _ texts: [String],
  in storage: any PersistentStorage,
  scope: String? = "s",
  attempts: Int = 1,
  name: String = "send",
  owner: String? = nil,
  letsPass: Bool = false
) async throws {
  let lines = try await storage.keys("journal/").count
  for (index, text) in texts.enumerated() {
    let number = index + lines + 1
    let scopeText = scope.map { "\"scope\":\"s\($0)/\"," } ?? ""
    let ownerText = owner.map { "\"owner\":\"\($0)\"," } ?? ""
    let passText = letsPass ? "\"letsPass\":true," : ""
    let json = """
      {"format":1,"id":"old\(number)","name":"\(name)",\(scopeText)\(ownerText)\(passText)"acceptedAt":0,"attempts":\(attempts),\
      "isSetAside":false,"arguments":"{\\"id\\":1,\\"text\\":\\"\(text)\\"}"}
      """
    let digits = "\(number)"
    let key = "journal/\(String(repeating: "0", count: 20 - digits.count))\(digits)-old\(number)"
    try await storage.apply([.put(key: key, value: Array(json.utf8))])
  }
}

extension ManualClock {
  /// Advances in small steps whenever there is a sleeper, until a task has ended.
  func advance(until task: Task<Void, Never>) async throws {
    let hasEnded = Atomic(false)
    let end = Task {
      await task.value
      hasEnded.store(true, ordering: .releasing)
      // The loop waits for a sleeper, and there may be none any more.
      return self.schedule(after: .seconds(86_400)) {}
    }
    while !hasEnded.load(ordering: .acquiring) {
      try await self.sleepers(count: 1)
      self.advance(by: .milliseconds(10))
    }
    await end.value.cancel()
  }
}
