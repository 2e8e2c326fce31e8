import Observation
import OperationTesting
import SharingOperation
import Testing

extension Post {
  typealias Query = QueryOperation<Post?, any Error>

  static func query(for id: Int) -> Query {
    QueryOperation("posts", id) { _ in try await api.post(id: id) }
  }
}
