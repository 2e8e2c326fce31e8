import Operation

@MainActor
final class Model {
  var title: String?
}

@MainActor let model = Model()
let store = client.store(for: QueryOperation("post") { _ in try await server.post(1) })
let observer = MockNetworkObserver(initialStatus: .connected)
