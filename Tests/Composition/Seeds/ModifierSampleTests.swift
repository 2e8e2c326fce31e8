import Operation
import OperationTesting
import TestFixtures
import Testing

extension OperationRequest {
  func delay(
    for duration: OperationDuration
  ) -> ModifiedOperation<Self, DelayModifer<Self>> {
    self.modifier(DelayModifer(duration: duration))
  }
}

struct DelayModifer<
  Operation: OperationRequest
>: OperationModifier, Sendable {
  let duration: OperationDuration

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try? await context.operationDelayer.delay(for: self.duration)
    return try await operation.run(
      isolation: isolation,
      in: context,
      with: continuation
    )
  }
}

@Suite(.bounded) struct ModifierSamples {
  @Test func `A modified query is a query`() async throws {
    let delayedPostQuery = Post.Query(id: 1).delay(for: .seconds(1))
    let store = OperationStore.detached(query: delayedPostQuery)
    store.context.operationDelayer = .noDelay
    store.context.dataTransport = MockDataTransport()

    try await expect(store.fetch(), equals: nil)
    expect(store.path, equals: [Post.Query(id: 1)])
  }

  @Test func `The delay uses the delayer of the context`() async throws {
    let delays = DelayLog()
    let store = OperationStore.detached(query: Post.Query(id: 1).delay(for: .seconds(7)).delayer(delays))
    store.context.dataTransport = MockDataTransport()

    try await store.fetch()

    await expect(delays.durations, equals: [.seconds(7)])
  }

  @Test func `Mutations and paginated requests take modifiers too`() async throws {
    let delayedCreateMutation = Post.CreateMutation().delay(for: .seconds(1))
    let delayedFeedQuery = Post.FeedQuery().delay(for: .seconds(1))
    let created = OperationStore.detached(mutation: delayedCreateMutation)
    let feed = OperationStore.detached(query: delayedFeedQuery)
    created.context.operationDelayer = .noDelay
    feed.context.operationDelayer = .noDelay

    let post = try await created.mutate(with: Post.CreateMutation.Arguments(userId: 1, title: "A", body: "B"))
    try await feed.fetchNextPage()

    expect(post.title, equals: "A")
    expect(feed.currentValue.count, equals: 1)
  }
}

private actor DelayLog: OperationDelayer {
  var durations: [OperationDuration] = []

  func delay(for duration: OperationDuration) async throws {
    self.durations.append(duration)
  }
}
