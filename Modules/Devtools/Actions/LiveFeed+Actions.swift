#if SwiftOperationDevtools
  public import OperationCore
  internal import OperationFoundation

  /// What a page asks a program to do.
  struct ActionRequest: Decodable, Sendable {
    let action: String
    /// The store that it concerns.
    var store: Int?
    /// The number of elements of the store's path that form the prefix of the stores to invalidate.
    var depth: Int?
    /// The new value as JSON.
    var value: String?
    var isOffline: Bool?
    /// In seconds.
    var latency: Double?
    var failures: Double?
  }

  extension OperationRunCause.Kind {
    /// The run was asked for on the page of ``Devtools``.
    public static let devtools = Self("devtools")
  }

  extension LiveFeed {
    /// Does what a page asks for.
    func perform(_ body: String) async -> FeedAnswer {
      guard let request = try? JSONDecoder().decode(ActionRequest.self, from: Data(body.utf8)) else {
        return .wrong("The body is an object with the name of an action.")
      }
      if request.action == "simulate" { return self.simulate(request) }
      guard let id = request.store, let store = self.store(id) else { return .wrong("The store is no longer there.") }
      switch request.action {
      case "refetch":
        guard store.allowsAutomaticRuns else { return .wrong("A mutation runs only when the program calls it.") }
        self.run(store)
      case "invalidate":
        if let depth = request.depth, depth < store.path.count {
          self.client.invalidate(
            matching: OperationPath(store.path.prefix(max(depth, 0))),
            by: "Devtools",
            isolation: nil
          )
        } else {
          let path = ShownText.of(store.path)
          _ = OperationClient.invalidate([store], subject: { path }, by: "Devtools", isolation: nil)
        }
      case "reset": store.resetState()
      case "fail":
        if let problem = store.fail() { return .wrong(problem) }
      case "remove": self.client.clearStore(with: store.path)
      case "hold", "release":
        guard let simulation = self.simulation else { return .wrong("The Devtools have no Simulation.") }
        simulation.setHeld(request.action == "hold", at: store.path)
        if request.action == "hold", store.allowsAutomaticRuns { self.run(store) }
      case "cancel": store.cancelRuns()
      case "set":
        guard let text = request.value else { return .wrong("The value is missing.") }
        if let problem = store.setValue(json: text) { return .wrong(problem) }
      default: return .wrong("There is no action with this name.")
      }
      return .json(#"{"done":true}"#)
    }

    private func run(_ store: OpaqueOperationStore) {
      var context = OperationContext()
      context.operationRunCause = OperationRunCause(.devtools)
      let task = store.runTask(using: context)
      Task(name: "Devtools") { _ = try? await task.runIfNeeded() }
    }

    private func simulate(_ request: ActionRequest) -> FeedAnswer {
      guard let simulation = self.simulation else { return .wrong("The Devtools have no Simulation.") }
      var settings = simulation.settings
      if let isOffline = request.isOffline { settings.isOffline = isOffline }
      if let latency = request.latency { settings.latency = .seconds(min(max(latency, 0), 3600)) }
      if let failures = request.failures { settings.failures = failures }
      simulation.settings = settings
      if request.value == "memory" { simulation.sendMemoryPressure() }
      return .json(#"{"done":true}"#)
    }
  }
#endif
