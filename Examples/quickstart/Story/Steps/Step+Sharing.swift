import Operation
import PostService

extension Step {
  static let sharedStore = Step("Ten callers of one store share a request") { stage in
    let gate = Gate()
    // Without automatic running, the callers start the request, not the subscription.
    let query = Post.query(for: 3).waiting(at: gate).disableAutomaticRunning()
    let store = stage.makeClient().store(for: query)
    let narrator = Narrator(post: 3, transcript: stage.transcript)
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }

    stage.transcript.say(.caller, "and nine more ask the store for post 3 at once")
    let posts = try await tenTimes(gate) { try await store.fetch() }
    stage.transcript.say(.caller, "all ten have \((posts.first ?? nil).inWords)")

    stage.transcript.check("each of the ten has post 3", posts.count { $0?.id == 3 }, equals: 10)
    stage.checkRequests(of: .post(id: 3), equal: 1)
    narrator.checkPhases(.idle, .loading, .value)
  }

  static let sharedOperation = Step("Ten callers of one operation share a request without a store") { stage in
    let gate = Gate()
    let context = stage.makeClient().defaultContext
    let query = Post.query(for: 4).waiting(at: gate).deduplicated()

    stage.transcript.say(.caller, "and nine more ask for post 4 at once, each by a runner of its own")
    let posts = try await tenTimes(gate) {
      try await OperationRunner(operation: query, initialContext: context).run()
    }
    stage.transcript.say(.caller, "all ten have \((posts.first ?? nil).inWords)")

    stage.transcript.check("each of the ten has post 4", posts.count { $0?.id == 4 }, equals: 10)
    stage.checkRequests(of: .post(id: 4), equal: 1)
  }
}

/// The results of ten calls, all of which have begun before the gate opens.
private func tenTimes<Value: Sendable>(
  _ gate: Gate,
  _ call: @escaping @Sendable () async throws -> Value
) async throws -> [Value] {
  try await withThrowingTaskGroup { group in
    for _ in 1...10 { group.addImmediateTask { try await call() } }
    gate.open()
    return try await group.reduce(into: []) { $0.append($1) }
  }
}
