import AsyncHTTPClient
import Foundation
import Operation
import OperationAsyncHTTPClient
import OperationHTTP

/// Operations over AsyncHTTPClient, with its pool of connections.
///
/// It starts a server that refuses, delays and answers, and checks what callers get. The exit code is 0 if all of it is
/// as the lines say.
@main
struct HTTPClientExample {
  static func main() async throws {
    let server = LibraryServer()
    let library = Library(address: try await server.start())
    // One HTTP client for the program. It is shut down after the last request. When to try again is a matter of the operations.
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    let http = HTTPClient(configuration: configuration)
    let client = OperationClient()
    client.defaultContext.operationHTTPTransport = AsyncHTTPClientTransport(http)

    var story = Story(server: server, library: library, client: client)
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await story.play()) } catch { outcome = .failure(error) }

    await server.stop()
    try await http.shutdown()
    if case .failure(let error) = outcome {
      print("the story ended with an error: \(error)")
      exit(1)
    }
    print(story.failures == 0 ? "all as it should be" : "\(story.failures) wrong")
    exit(story.failures == 0 ? 0 : 1)
  }
}
