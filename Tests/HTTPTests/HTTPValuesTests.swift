import Foundation
import OperationCore
import OperationHTTP
import TestFixtures
import Testing

/// Header fields, requests and errors of statuses.
@Suite(.bounded)
struct HTTPValuesTests {
  @Test
  func `Names of fields are compared without their case, and repeated ones stay`() {
    var fields: OperationHTTPFields = ["Accept": "a", "accept": "b", "ETag": "\"x\""]
    #expect(fields["ACCEPT"] == "a" && fields.count == 3)
    fields["accept"] = "c"
    expect(fields.map(\.value), equals: ["\"x\"", "c"])
    fields["etag"] = nil
    fields.append(name: "Accept", value: "d")
    expect(fields.map(\.value), equals: ["c", "d"])
    #expect(fields == ["ACCEPT": "c", "ACCEPT": "d"] && fields.hashValue == fields.hashValue)
    expect(OperationHTTPFields(["B": "1", "A": "2"]).map(\.name), equals: ["A", "B"])
    expect("\(fields)", equals: "[accept, Accept]")
  }

  @Test
  func `A request describes itself without what can be a secret`() throws {
    let url = try #require(URL(string: "https://ada:secret@example.org/a?token=secret#secret"))
    let fields: OperationHTTPFields = ["Authorization": "secret"]
    let request = OperationHTTPRequest(url, method: "PUT", fields: fields, body: Data("secret".utf8))
    expect("\(request)", equals: "PUT https://example.org/a")
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
  func `After these statuses another attempt can succeed`(status: Int) {
    expect(OperationHTTPStatusError(status: status).retryClassification, equals: .retry)
    expect(OperationHTTPStatusError(status: status).retryAfter, equals: nil)
  }

  @Test(arguments: [304, 400, 401, 403, 404, 409, 412, 422, 501])
  func `After these it cannot`(status: Int) {
    let error = OperationHTTPStatusError(status: status, fields: ["Retry-After": "5"])
    #expect(error.retryClassification == .never && error.retryAfter == nil)
  }

  @Test
  func `Retry-After is a number of seconds or a date`() {
    let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT
    let seconds = OperationHTTPStatusError(status: 429, fields: ["retry-after": "120"], now: now)
    expect(seconds.retryAfter, equals: .seconds(120))
    let date = OperationHTTPStatusError(
      status: 503,
      fields: ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"],
      now: now
    )
    expect(date.retryAfter, equals: .seconds(10))
    let malformed = OperationHTTPStatusError(status: 503, fields: ["Retry-After": "soon"], now: now)
    expect(malformed.retryClassification, equals: .retry)
  }
}
