import OperationCore
import OperationEvents
import OperationFleet
import OperationFreshness

struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { sample() }
}

let client = OperationClient()
let fleet = InMemoryFleet()
let store = client.store(for: PostQuery(id: 1))
