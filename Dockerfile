# EmpathyLab with studies, style, local models and PostgreSQL.
#   docker build -t empathylab .
#   docker run --rm -v ./lab:/lab empathylab evaluate openai/gpt-4o-mini
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[local,postgres,study,style]'

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels \
    'empathylab[local,postgres,study,style]'
# Nothing runs as root, and only /lab is written to.
RUN useradd --create-home --uid 1000 empathylab && install -d -o empathylab /lab
USER empathylab
ENV EMPATHYLAB_LAB=/lab
VOLUME /lab
WORKDIR /lab
EXPOSE 8000
ENTRYPOINT ["empathylab"]
CMD ["--help"]
