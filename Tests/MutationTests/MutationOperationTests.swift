import OperationCore
import OperationMutation
import TestFixtures
import Testing

/// Mutations from closures, and types with one function.
@Suite(.bounded)
struct MutationOperationTests {
  @Test
  func `The closure receives the elements of the path, then the arguments`() async throws {
    let client = OperationClient()
    let rename = MutationOperation("posts", 4) { (id, title: String, _) in "\(id): \(title)" }
    let store = client.store(for: rename)
    expect(store.path, equals: ["posts", 4])
    try await expect(store.mutate(with: "new"), equals: "4: new")

    let both = MutationOperation("posts", 4, "a") { (id, letter, amount: Int, _) in "\(letter)\(id + amount)" }
    try await expect(OperationStore.detached(mutation: both).mutate(with: 2), equals: "a6")
  }

  @Test
  func `A parameter with the type of the arguments keeps its meaning`() async throws {
    let add = MutationOperation("counter", 3) { (amount: Int, _) in amount + 1 }
    try await expect(OperationStore.detached(mutation: add).mutate(with: 8), equals: 9)
    let yielding = MutationOperation("counter", 3) { (amount: Int, _, continuation) in
      continuation.yield(1)
      return amount + 2
    }
    try await expect(OperationStore.detached(mutation: yielding).mutate(with: 8), equals: 10)
    let plain = MutationOperation("counter", 3) { _ in 11 }
    try await expect(OperationStore.detached(mutation: plain).mutate(), equals: 11)
  }

  @Test
  func `The failure of its closure is its failure`() async {
    let refusing = MutationOperation("posts", 4) { (id, title: String, _) throws(Refused) in
      if title.isEmpty { throw Refused(code: id) }
      return title
    }
    let store: OperationStore<MutationState<String, String, Refused>> = .detached(mutation: refusing)
    await #expect(throws: Refused(code: 4)) { try await store.mutate(with: "") }
    let plain = MutationOperation("posts") { (code: Int, _) throws(Refused) in
      if code > 0 { throw Refused(code: code) }
      return code
    }
    let other: OperationStore<MutationState<Int, Int, Refused>> = .detached(mutation: plain)
    await #expect(throws: Refused(code: 9)) { try await other.mutate(with: 9) }
    let number = 7
    let bare = MutationOperation("refresh") { _ throws(Refused) in
      if number > 0 { throw Refused(code: number) }
      return number
    }
    let third: OperationStore<MutationState<Void, Int, Refused>> = .detached(mutation: bare)
    await #expect(throws: Refused(code: 7)) { try await third.mutate() }
    let loud = MutationOperation("refresh") { _ in
      if number > 0 { throw Refused(code: number) }
      return number
    }
    let fourth: OperationStore<MutationState<Void, Int, any Error>> = .detached(mutation: loud)
    await #expect(throws: Refused(code: 7)) { try await fourth.mutate() }
  }

  @Test
  func `A type with mutate(with:in:) alone is a mutation`() async throws {
    let client = OperationClient()
    let store = client.store(for: Appending(id: 2))
    expect(store.path, equals: ["texts", 2])
    try await expect(store.mutate(with: "b"), equals: "2b")
    expect(store.history.map(\.arguments), equals: ["b"])
    let refusing: OperationStore<MutationState<Void, Int, Refused>> = .detached(mutation: Refusing())
    await #expect(throws: Refused(code: 5)) { try await refusing.mutate() }
  }
}

private struct Appending: SimpleMutationRequest {
  let id: Int

  var path: OperationPath { ["texts", self.id] }

  func mutate(with text: String, in context: OperationContext) async throws -> String { "\(self.id)\(text)" }
}

private struct Refusing: SimpleMutationRequest, Hashable {
  func mutate(with arguments: Void, in context: OperationContext) async throws(Refused) -> Int {
    throw Refused(code: 5)
  }
}
