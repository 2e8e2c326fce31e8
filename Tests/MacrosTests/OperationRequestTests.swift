#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @OperationRequest
  private func answer() -> Int { 42 }

  @OperationRequest
  private func streamed(
    context: OperationContext,
    continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    continuation.yield(1)
    return context.greeting.count
  }

  @OperationRequest
  private func failing(code: Int) async throws(Failed) -> Int { throw Failed(code: code) }

  @OperationRequest
  private func applied(_ transform: (Int) -> Int, to value: Int = 2, then done: @escaping () -> Void = {}) -> Int {
    done()
    return transform(value)
  }

  @OperationRequest
  private func never() async throws(Never) -> Int { 1 }

  @OperationRequest
  private func runsHere(isolation: isolated (any Actor)?) async -> Bool { isolation === MainActor.shared }

  @OperationRequest
  private func flaky(_ attempts: Attempts) throws -> Int {
    let attempt = attempts.next()
    if attempt < 3 { throw Failed(code: attempt) }
    return attempt
  }

  private final class Attempts: Sendable {
    private let count = Atomic(0)

    func next() -> Int { self.count.add(1, ordering: .relaxed).newValue }
  }

  @Suite(.bounded) struct OperationRequestTests {
    @Test func `An operation runs by itself`() async throws {
      #expect(await #run($answer) == 42)
      #expect(try await #run($streamed) == 5)
      await #run($answer)
      #expect(await #run($never) == 1)
    }

    @Test func `A run takes a context and a continuation`() async throws {
      var context = OperationContext()
      context.greeting = "bye"
      #expect(try await #run($streamed, context: context) == 3)

      let yielded = Mutex<[Int]>([])
      let continuation = OperationContinuation<Int, any Error> { result, _ in
        if let value = try? result.get() { yielded.withLock { $0.append(value) } }
      }
      #expect(try await #run($streamed, context: context, continuation: continuation) == 3)
      #expect(try await #run($streamed, continuation: continuation) == 5)
      #expect(yielded.withLock { $0 } == [1, 1])
    }

    @Test func `The error keeps its type`() async {
      do throws(Failed) {
        _ = try await #run($failing(code: 8))
        Issue.record("It failed to fail.")
      } catch {
        #expect(error.code == 8)
      }
    }

    @Test func `Functions are arguments like others`() async {
      #expect(await #run($applied { $0 + 1 }) == 3)
      #expect(await #run($applied({ $0 + 1 }, to: 5)) == 6)
    }

    @Test @MainActor func `An operation that asks for it runs on its caller's actor`() async {
      #expect(await #run($runsHere))
    }

    @Test func `Modifiers apply`() async throws {
      let attempts = Attempts()
      #expect(try await #run($flaky(attempts).retry(limit: 3).delayer(.noDelay)) == 3)
    }
  }
#endif
