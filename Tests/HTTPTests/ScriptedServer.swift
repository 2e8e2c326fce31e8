import Foundation
import OperationCore
import OperationHTTP
import Synchronization
import TestFixtures

/// A server that answers requests in the order of a script.
final class ScriptedServer: OperationHTTPTransport {
  let requests = Log<OperationHTTPRequest>()
  private let answers = Mutex<[OperationHTTPResponse]>([])

  func enqueue(_ status: Int, _ fields: OperationHTTPFields = [:], _ body: String = "") {
    self.answers.withLock { $0.append(OperationHTTPResponse(status: status, fields: fields, body: Data(body.utf8))) }
  }

  func enqueue(_ body: OperationHTTPBody) {
    self.answers.withLock { $0.append(OperationHTTPResponse(status: 200, body: body)) }
  }

  func send(_ request: OperationHTTPRequest) async throws -> OperationHTTPResponse {
    self.requests.append(request)
    return try self.answers.withLock { answers in
      if answers.isEmpty { throw Refused() }
      return answers.removeFirst()
    }
  }
}

struct Post: Codable, Hashable {
  var id: Int
}

extension OperationRequest {
  /// Sends the requests of the operation by a transport.
  func sent(by transport: some OperationHTTPTransport) -> ContextModifiedOperation<Self> {
    self.context { $0.operationHTTPTransport = transport }
  }
}

let address: URL = {
  guard let url = URL(string: "https://example.org/posts/1") else { preconditionFailure("It is an address.") }
  return url
}()
