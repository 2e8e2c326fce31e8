import OperationCore
import OperationTesting
import OperationTimeout
import Testing

/// The samples of the article, word for word.
@Suite struct TimeoutArticleSamples {
  @Test func `The sample of a query with a limit works`() async throws {
    let query = PostQuery(id: 1).timeout(.seconds(2))

    #expect(try await OperationRunner(operation: query).run() == "post 1")
  }

  @Test func `The sample with a failure type of its own works`() async {
    let query = UserQuery().timeout(.seconds(2)) { .slow($0.duration) }

    #expect((try? await OperationRunner(operation: query).run()) == "user")
  }

  @Test func `The sample with a deadline for several queries works`() async throws {
    let deadline = ContinuousClock.now + .seconds(5)
    let post = PostQuery(id: 1).deadline(deadline)
    let author = PostQuery(id: 2).deadline(deadline)

    #expect(try await OperationRunner(operation: post).run() == "post 1")
    #expect(try await OperationRunner(operation: author).run() == "post 2")
  }
}

private struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    var request = Request(path: "/posts/\(self.id)")
    if let remaining = context.operationTimeRemaining {
      request.headers["grpc-timeout"] = "\(Int(remaining / .milliseconds(1)))m"
    }
    return try await request.send()
  }
}

private struct Request {
  let path: String
  var headers: [String: String] = [:]

  func send() async throws -> String { "post \(self.path.split(separator: "/")[1])" }
}

private enum UserFailure: Error {
  case slow(Duration)
}

private struct UserQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, UserFailure>
  ) async throws(UserFailure) -> String { "user" }
}
