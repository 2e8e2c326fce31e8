import Logging
import Operation
import ServiceLifecycle

struct Request: Sendable {
  var user: Int
}

struct Database: Service {
  func run() async throws {}
}

extension OperationContext {
  var user: Int {
    get { 1 }
    set {}
  }
}

func render(_ request: Request) async throws -> String { "" }

let logger = Logger(label: "service")
let (database, server) = (Database(), Database())
