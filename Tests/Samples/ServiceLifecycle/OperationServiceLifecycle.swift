import Logging
import Operation
import ServiceLifecycle

struct Database: Service {
  func run() async throws {}
}

let logger = Logger(label: "service")
let (database, server) = (Database(), Database())
