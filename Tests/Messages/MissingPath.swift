import Operation

// A type that is neither Hashable nor Identifiable has to say where its state lives.

// expected-error@+3 {{type 'NameQuery' does not conform to protocol 'OperationPathable'}}
// expected-error@+2 {{type 'NameQuery' does not conform to protocol 'StatefulOperationRequest'}}
// expected-error@+1 2 {{make the type Hashable or Identifiable, or write its path: var path: OperationPath}}
struct NameQuery: SimpleQueryRequest {
  func fetch(in context: OperationContext) async throws -> String { "name" }
}
