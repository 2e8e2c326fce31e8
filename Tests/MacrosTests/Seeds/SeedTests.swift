#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @OperationRequest
  func myOperation(
    context: OperationContext,
    continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    continuation.yield(someValue())
    return someOtherValue()
  }

  private func someValue() -> Int { 1 }
  private func someOtherValue() -> Int { 2 }

  @Suite(.bounded) struct SeedTests {
    @Test func `A query fetches a post`() async throws {
      let client = OperationClient()
      #expect(try await client.store(for: Post.query(for: 1)).fetch()?.title == "Title")
      #expect(client.store(for: Post.query(for: 1)).currentValue??.id == 1)
      #expect(try await client.store(for: Post.query(for: 2)).fetch() == nil)
    }

    @Test func `A mutation creates a post`() async throws {
      let create = OperationClient().store(for: Post.$createMutation)
      let args = Post.CreateArguments(userId: 1, title: "New", body: "Post")
      #expect(try await create.mutate(with: args) == Post(id: 101, userId: 1, title: "New", body: "Post"))
    }

    @Test func `Queries and mutations are delayed`() async throws {
      let delays = Mutex<[Duration]>([])
      struct Log: OperationDelayer {
        let log: @Sendable (Duration) -> Void
        func delay(for duration: OperationDuration) async throws { self.log(duration) }
      }
      var context = OperationContext()
      context.operationDelayer = Log { duration in delays.withLock { $0.append(duration) } }
      await OperationStore.detached(query: delayedQuery, initialContext: context).fetch()
      await OperationStore.detached(mutation: delayedMutation, initialContext: context).mutate()
      #expect(delays.withLock { $0 } == [.seconds(1), .seconds(1)])
    }

    @Test func `A cached post comes before the live one`() async throws {
      let store = OperationStore.detached(query: Post.$cachedQuery(id: 1))
      let recorder = EventRecorder<QueryState<Post?, any Error>>()
      #expect(try await store.fetch(handler: recorder.queryHandler)?.title == "Live")
      #expect(recorder.results.map { try? $0.get()?.title } == ["From the cache", "Live"])
    }

    @Test func `A friend request changes all lists`() async throws {
      let client = OperationClient()
      let lists = [client.store(for: FriendsQuery(userId: 1)), client.store(for: FriendsQuery(userId: 2))]
      for list in lists { try await list.fetchNextPage() }

      try await client.store(for: $sendFriendRequestMutation).mutate(with: SendFriendRequestArguments(userId: 1))

      for list in lists {
        #expect(list.currentValue.flatMap(\.value).map(\.relationship) == [.notFriends, .friendRequestSent])
      }
    }

    @Test func `An operation without state runs`() async throws {
      let value = try await #run($myOperation)

      let context = OperationContext()
      let previewValue = try await #run($myOperation, context: context)

      let values = Mutex<[Int]>([])
      let continuation = OperationContinuation<Int, any Error> { result, context in
        if case .success(let value) = result { values.withLock { $0.append(value) } }
      }
      let streamedValue = try await #run(
        $myOperation,
        context: context,
        continuation: continuation
      )
      #expect([value, previewValue, streamedValue] == [2, 2, 2])
      #expect(values.withLock { $0 } == [1])
    }
  }
#endif
