import Operation
import OperationFleet

// What a fleet cannot share.

func pages(_ feed: some PaginatedRequest<Int, [Int], any Error>) {
  // expected-error@+1 {{of a paginated request, share the query of each page, and fetch it in `fetchPage`}}
  _ = feed.sharedInFleet(as: "feed")
}

struct Secret: Sendable {}

func values(_ query: some QueryRequest<Secret, any Error>) {
  // expected-error@+1 {{a value that is shared in a fleet has to be Codable and Sendable}}
  _ = query.sharedInFleet(as: "secret", timeToLive: .seconds(5))
}
