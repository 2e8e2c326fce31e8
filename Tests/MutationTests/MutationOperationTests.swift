import OperationCore
import OperationMutation
import TestFixtures
import Testing

/// Mutations from closures.
@Suite(.bounded)
struct MutationOperationTests {
  @Test
  func `The closure receives the elements of the path, then the arguments`() async throws {
    let client = OperationClient()
    let rename = MutationOperation("posts", 4) { (id, title: String, _) in "\(id): \(title)" }
    let store = client.store(for: rename)
    #expect(store.path == ["posts", 4])
    #expect(try await store.mutate(with: "new") == "4: new")

    let both = MutationOperation("posts", 4, "a") { (id, letter, amount: Int, _) in "\(letter)\(id + amount)" }
    #expect(try await OperationStore.detached(mutation: both).mutate(with: 2) == "a6")
  }

  @Test
  func `A parameter with the type of the arguments keeps its meaning`() async throws {
    let add = MutationOperation("counter", 3) { (amount: Int, _) in amount + 1 }
    #expect(try await OperationStore.detached(mutation: add).mutate(with: 8) == 9)
    let yielding = MutationOperation("counter", 3) { (amount: Int, _, continuation) in
      continuation.yield(1)
      return amount + 2
    }
    #expect(try await OperationStore.detached(mutation: yielding).mutate(with: 8) == 10)
    let plain = MutationOperation("counter", 3) { _ in 11 }
    #expect(try await OperationStore.detached(mutation: plain).mutate() == 11)
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
  }
}
