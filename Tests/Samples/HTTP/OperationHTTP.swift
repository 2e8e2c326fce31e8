import Foundation
import Operation
import OperationHTTP

struct Draft: Codable, Sendable {
  var title: String
}
