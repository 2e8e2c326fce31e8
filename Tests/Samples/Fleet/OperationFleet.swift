import OperationCore
import OperationEvents
import OperationFleet
import OperationFreshness

struct PostQuery: SimpleQueryRequest {
  let id: Int

  var path: OperationPath { ["posts", id] }

  func fetch(in context: OperationContext) async throws -> String { sample() }
}

let client = OperationClient()
let fleet = InMemoryFleet()
let store = client.store(for: PostQuery(id: 1))
