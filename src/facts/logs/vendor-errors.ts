/** The vendor's own API answers with an error of its own: by its client library's words, or its host and a 5xx. */
const serverError =
  /googleapi: Error 50[0234]\b|Visibility check was unavailable|backendError\b|\(Service: [\w ]+[;,] Status Code: 50[0234]\b|(googleapis\.com|pkg\.dev|gcr\.io|amazonaws\.com|azure\.(com|net)|windows\.net|azurecr\.io|microsoftonline\.com|aliyuncs\.com|myhuaweicloud\.com)\b[^\n]{0,160}\b(50[0234] |InternalError|InternalServerError|ServiceUnavailable|Internal Server Error|Service Unavailable)/i;
/**
 * Client libraries that name the service's operation and not its host: the AWS SDKs for Go (v2), Python and the shell,
 * Azure's and Alibaba's identity errors. S3 has many servers that are not the vendor's, so its host has to be named.
 */
const sdkServerError =
  /operation error (?!S3\b)[\w ]+: \w+,[^\n]{0,160}\bStatusCode: 50[0234]\b|An error occurred \((?:ServiceUnavailable|InternalFailure|InternalError|InternalServerError|ServiceUnavailableException|50[0234])\) when calling the \w+ operation|\bAADSTS90033\b|\bSDK\.ServerError\b[^\n]{0,120}\b(?:ServiceUnavailable|InternalError)/;
/** Error codes that AWS's services share and other servers do not use, beside the status: loggers that keep no more. */
const sharedCode =
  /\b(?:InternalFailure|InternalServiceError(?:Exception)?)\b[^\n]{0,40}\b50[023]\b|\b50[023]\b[^\n]{0,40}\b(?:InternalFailure|InternalServiceError(?:Exception)?)\b/;
/** Answers that speak of the caller's own rate, though their status is a server's. */
const callers = /SlowDown|Throttl|rate ?(limit|exceeded)|quota/i;

/** True where a line is the vendor's own failure to answer, and no refusal and no limit of the caller. */
export const isVendorFailure = (text: string): boolean =>
  (serverError.test(text) || sdkServerError.test(text) || sharedCode.test(text)) && !callers.test(text);

/** A log search that finds every line `isVendorFailure` may hold. */
export const vendorFailure = new RegExp(`${serverError.source}|${sdkServerError.source}|${sharedCode.source}`, 'i');
