import Operation
import OperationTesting
import TestFixtures
import Testing

/// The defaults of a client beside the modifiers of what is not a plain query.
@Suite(.bounded, .warningsAreIssues) struct ClientDefaultsTests {
  private let late = "\(OperationTimedOut(after: .seconds(1)))"

  // MARK: - Kinds of operations and of clients

  @Test func `The retries of mutations have the same place`() {
    for (body, expected) in [
      (ClientDefaults.Body.slow, ClientDefaults.Experience(attempts: 1, freed: .seconds(1), outcome: self.late)),
      (.failing, ClientDefaults.Experience(attempts: 2, freed: .seconds(1), outcome: "0")),
    ] {
      let defaults = ClientDefaults(body)
      let (query, client) = (defaults.query, defaults.client(mutationRetryLimit: 3))
      let mutation = MutationOperation("mutation") { (_: Int, context) in
        try await query.run(isolation: nil, in: context, with: .init { _, _ in })
      }
      let experience = defaults.experience {
        switch body {
        case .slow: try await client.store(for: mutation.timeout(.seconds(1))).mutate(with: 1)
        case .failing: try await client.store(for: mutation.retry(limit: 1).fallback(0)).mutate(with: 1)
        }
      }
      expect(experience, equals: expected)
    }
  }

  @Test func `A mutation falls back after the retries of the client`() {
    let defaults = ClientDefaults(.failing)
    let (query, client) = (defaults.query, defaults.client(mutationRetryLimit: 2))
    let mutation = MutationOperation("mutation") { (_: Int, context) in
      try await query.run(isolation: nil, in: context, with: .init { _, _ in })
    }
    let experience = defaults.experience { try await client.store(for: mutation.fallback(0)).mutate(with: 1) }
    expect(experience, equals: .init(attempts: 3, freed: .seconds(3), outcome: "0"))
  }

  @Test func `Inside of a timeout a retry of the client goes on at the page that failed`() {
    let defaults = ClientDefaults(.slow)
    let fetched = Log<Int>()
    let feed = PaginatedOperation(
      "feed",
      initialPageId: 0,
      pageIdAfter: { $0.id + 1 },
      body: { paging, _ -> Int in
        if fetched.append(paging.pageId) == 4 { throw Refused() }
        return paging.pageId
      }
    )
    let store = defaults.client().store(for: feed.timeout(.seconds(9)))
    let experience = defaults.experience {
      for _ in 1...2 { _ = try await store.fetchNextPage() }
      return try await store.refetchAllPages().count
    }
    expect(experience, equals: .init(attempts: 0, freed: .seconds(1), outcome: "2"))
    expect(fetched.all, equals: [0, 1, 0, 1, 1])
  }

  @Test func `A client without retries falls back at once, and bounds a run`() {
    for creator in [0, 1] {
      for (body, freed, outcome) in [(ClientDefaults.Body.failing, 0, "0"), (.slow, 1, self.late)] {
        let defaults = ClientDefaults(body)
        let usual = defaults.client()
        var context = usual.defaultContext
        context.operationBackoffFunction = .noBackoff
        let client =
          creator == 0
          ? OperationClient(defaultContext: context, storeCreator: .defaultTesting)
          : OperationClient(defaultContext: context, storeCreator: OperationClient.PlainStoreCreator())
        let query = defaults.query
        let experience = defaults.experience {
          switch body {
          case .failing: try await client.store(for: query.fallback(0)).fetch()
          case .slow: try await client.store(for: query.deadline(after: .seconds(1))).fetch()
          }
        }
        expect(experience, equals: .init(attempts: 1, freed: .seconds(freed), outcome: outcome))
      }
    }
  }

  @Test func `Without a store, a deadline bounds a wait outside of it`() {
    let defaults = ClientDefaults(.slow)
    let query = defaults.query.deadline(after: .seconds(1)).waits(until: .always(false))
    let context = defaults.client().defaultContext
    let experience = defaults.experience {
      try await OperationRunner(operation: query, initialContext: context).run(isolation: nil)
    }
    expect(experience, equals: .init(attempts: 0, freed: .seconds(1), outcome: self.late))
  }

  @Test func `A breaker outside of a timeout counts the attempts of the client once`() {
    for (isInside, count) in [(true, 3), (false, 1)] {
      let defaults = ClientDefaults(.failing)
      let breaker = CircuitBreaker()
      let experience =
        isInside
        ? defaults.experience(of: defaults.query.circuitBreaker(breaker).timeout(.seconds(5)))
        : defaults.experience(of: defaults.query.timeout(.seconds(5)).circuitBreaker(breaker))
      expect(experience, equals: .init(attempts: 3, freed: .seconds(3), outcome: "\(Refused())"))
      expect(breaker.snapshot().failures, equals: count)
    }
  }

  // MARK: - Several operations

  @Test func `An operation that fetches another one with its context leaves that one its retries`() {
    let defaults = ClientDefaults(.failing)
    let client = defaults.client()
    let inner = defaults.query.fallback(0)
    let outer = QueryOperation("outer") { context in
      try await client.store(for: inner).fetch(using: context)
    }
    let experience = defaults.experience { try await client.store(for: outer.timeout(.seconds(60))).fetch() }
    expect(experience, equals: .init(attempts: 4, freed: .seconds(7), outcome: "0"))
  }

  @Test func `Each run of a query has its own deadline and its own retries`() {
    let defaults = ClientDefaults(.failing)
    let store = defaults.client().store(for: defaults.query.deadline(after: .seconds(2)).fallback(0))
    for number in 1...3 {
      let experience = defaults.experience { try await store.fetch() }
      expect(experience, equals: .init(attempts: 2 * number, freed: .seconds(number), outcome: "0"))
    }
  }

  @Test func `Two callers of a run share its deadline`() {
    let defaults = ClientDefaults(.slow)
    let store = defaults.client().store(for: defaults.query.deadline(after: .seconds(1)))
    let experience = defaults.experience {
      async let first = store.fetch()
      async let second = store.fetch()
      return try await first + second
    }
    expect(experience, equals: .init(attempts: 1, freed: .seconds(1), outcome: self.late))
  }

  // MARK: - What is seen of it

  @Test func `The state shows the attempts inside of a timeout`() {
    let defaults = ClientDefaults(.failing)
    let store = defaults.client().store(for: defaults.query.timeout(.seconds(60)))
    let attempts = Log<Int>()
    let subscription = store.subscribe(
      with: OperationEventHandler(onStateChanged: { state, _ in
        if let index = state.attempt?.index, index != attempts.all.last { attempts.append(index) }
      })
    )
    defer { subscription.cancel() }
    _ = defaults.experience { try await store.fetch() }
    expect(attempts.all, equals: [1, 2, 3, 4])
  }

  @Test func `A substitute of a fallback is not bounded by the deadline inside, but by the one outside`() {
    let defaults = ClientDefaults(.slow)
    let remaining = Log<Duration?>()
    let query = defaults.query.deadline(after: .seconds(1)).fallback { _, context in
      remaining.append(context.operationTimeRemaining)
      return 0
    }
    expect(defaults.experience(of: query).outcome, equals: "0")
    expect(defaults.experience(of: query.deadline(after: .seconds(10))).outcome, equals: "0")
    expect(remaining.all, equals: [nil, .seconds(9)])
  }

  @Test func `A fallback that the body of an operation runs has the deadline that the body sets`() {
    let defaults = ClientDefaults(.failing)
    let remaining = Log<Duration?>()
    let inner = defaults.query.retry(limit: 0).fallback { _, context in
      remaining.append(context.operationTimeRemaining)
      return 0
    }
    let outer = QueryOperation("outer") { context in
      var context = context
      context.operationDeadline = nil
      return try await OperationRunner(operation: inner, initialContext: context).run(isolation: nil)
    }
    expect(defaults.experience(of: outer.deadline(after: .seconds(9))).outcome, equals: "0")
    expect(remaining.all, equals: [nil])
  }

  @Test func `A modifier of your own takes part`() {
    let defaults = ClientDefaults(.failing)
    let experience = defaults.experience(of: defaults.query.modifier(Zero()))
    expect(experience, equals: .init(attempts: 4, freed: .seconds(7), outcome: "0"))
  }
}

/// Replaces each error with zero.
private struct Zero<Operation: OperationRequest>: OperationModifier where Operation.Value == Int {
  private let id = OutcomeModifierIdentifier()

  func setup(context: inout OperationContext, using operation: Operation) {
    context.offersPlaceForAttempts(self.id)
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Int, Operation.Failure>
  ) async throws(Operation.Failure) -> Int {
    do throws(Operation.Failure) {
      return try await operation.runWithAttempts(of: self.id, isolation: isolation, in: context, with: continuation)
    } catch {
      return 0
    }
  }
}
